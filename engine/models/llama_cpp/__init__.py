"""GGUF models on this machine: many conversations decoded together by llama.cpp's low-level interface."""
