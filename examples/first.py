import contextwright as cw

chat = [
    cw.system("You book tables. Be brief."),
    cw.user("A table for two at 13:00?", author="Olena"),
    cw.assistant(cw.ToolCall("book_table", {"people": 2, "at": "13:00"}, id="call_1")),
    cw.user("Make it three, I am coming too!", author="Max"),  # before the tool has answered
    cw.tool_result("call_1", "Table 7 is yours."),
]
request = cw.render(chat, "anthropic", model="claude-sonnet-5-5")

for message in request.payload["messages"]:
    for block in message["content"]:
        print(message["role"], block)
print(*request.changes, sep="\n")
