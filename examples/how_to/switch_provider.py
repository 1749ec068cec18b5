"""Switch provider in mid-conversation: one history, any API, and a line for what is lost."""

import tempfile

import contextwright as cw

reply = {  # as Claude sent it, with signed thinking and a call
    "role": "assistant",
    "type": "message",
    "model": "claude-sonnet-5-5",
    "content": [
        {"type": "thinking", "thinking": "They want soup.", "signature": "c2lnbmVk"},
        {"type": "tool_use", "id": "toolu_1", "name": "menu", "input": {"day": "today"}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 10, "output_tokens": 20},
}
with tempfile.TemporaryDirectory() as folder, cw.Store(f"{folder}/chat.db") as store:
    chat = store.conversation("lunch")
    chat.add(cw.user("Is there soup?"))
    chat.add(cw.parse_reply(reply))
    chat.add(cw.tool_result("toolu_1", "Borscht."))
    for model in ("claude-sonnet-5-5", "gemini-3.8-flash", "gpt-5.6-sol"):
        context = chat.context(cw.Recipe(), model=model)
        print(f"{model}: {context.format}, {context.ledger.tokens} tokens")
        for change in context.changes:
            print(" ", change)
