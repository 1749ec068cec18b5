"""OpenAI Responses: what a request looks like, and what is refused."""
