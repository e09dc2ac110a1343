"""Memories that leave something out, each in its own way."""
