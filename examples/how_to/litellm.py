"""From LiteLLM: the same OpenAI messages, for any provider, and nothing lost silently."""

import contextwright as cw

messages = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Soup?"},
    {"role": "assistant", "content": ""},
    {"role": "user", "content": "Why?"},
]
body = {"model": "gpt-5.6-sol", "messages": messages, "max_completion_tokens": 300}

# litellm.completion(model="anthropic/claude-…", messages=messages): here you send it yourself
request = cw.convert(body, "openai-chat", "anthropic", model="claude-sonnet-5-5")
print(request.payload["messages"])
print(*request.changes, sep="\n")

# litellm.token_counter(model=…, messages=messages)
print(cw.count(body, model="gpt-5.6-sol"))

# litellm.utils.trim_messages(messages, max_tokens=…)
context = cw.build(messages, cw.Recipe(budget=400), model="claude-sonnet-5-5")
print(context.ledger.tokens, "tokens of 400")
