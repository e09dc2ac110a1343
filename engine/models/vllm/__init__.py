"""Models behind HTTP: vLLM servers, and whatever else speaks OpenAI's chat completions."""
