"""OpenAI Chat Completions and the hosts that speak it."""
