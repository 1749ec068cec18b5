"""OpenAI Chat Completions: what a request looks like, and what is refused."""
