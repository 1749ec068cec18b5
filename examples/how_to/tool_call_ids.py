"""The 400 about tool_call_ids: find it before the provider does, and mend it."""

import contextwright as cw

call = {"id": "call_1", "type": "function", "function": {"name": "menu", "arguments": "{}"}}
body = {
    "model": "gpt-5.6-sol",
    "messages": [
        {"role": "tool", "tool_call_id": "call_0", "content": "cut off from its call"},
        {"role": "user", "content": "What is for lunch?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "user", "content": "Hello?"},  # before the tool has answered
        {"role": "tool", "tool_call_id": "call_1", "content": "Soup."},
    ],
}
print("The provider would refuse this:")
for problem in cw.check(body, "openai-chat"):
    print(" ", problem)

mended = cw.convert(body, "openai-chat", "openai-chat")
print("Mended:", [message["role"] for message in mended.payload["messages"]])
for change in mended.changes:
    print(" ", change)
assert cw.check(mended.payload, "openai-chat") == []
