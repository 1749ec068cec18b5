"""The examples of the five systems' own documents."""

from typing import Any

from contextwright.formats.forge.format import Assistant, System, Tool, User

LUNCH = """[
  {
    "index": 0,
    "turn": 0,
    "timestamp": "2023-04-04T12:33:00Z",
    "role": "system",
    "content": "You're a helpful AI assistant named Aya. You help users with content..."
  },
  {
    "index": 1,
    "turn": 0,
    "timestamp": "2023-04-04T12:33:10Z",
    "role": "user",
    "content": {
      "userid": "<@U1234546>",
      "text": "Suggest lunch options please."
    }
  },
  {
    "index": 2,
    "turn": 1,
    "timestamp": "2023-04-04T12:33:20Z",
    "role": "assistant",
    "content": {
      "toolCall": "getThreadHistory",
      "ascending": false,
      "reasoning": "Checking for context about dietary preferences"
    }
  },
  {
    "index": 3,
    "turn": 1,
    "timestamp": "2023-04-04T12:33:30Z",
    "role": "assistant",
    "content": {
      "toolCall": "postMessage",
      "text": "Here are some lunch suggestions: MENU",
      "reasoning": "Providing diverse lunch options"
    }
  }
]""".replace("MENU", "1) Mushroom risotto, 2) Caesar salad, 3) Vegetable curry")


def row(number: int, role: str, content: str | None = None, **fields: Any) -> dict[str, Any]:
    """A row as 013's database has it: columns without a value are NULL."""
    columns = {"tool_calls": None, "tool_results": None, "content": content}
    at = f"2025-12-13T10:00:{number:02}Z"
    ids = {"id": f"row-{number}", "conversation_id": "c", "created_at": at}
    return {**ids, "role": role, **columns, **fields}


def call(id: str, arguments: object = None, name: str = "search") -> dict[str, Any]:
    """A stored call: no `type`."""
    return {"id": id, "function": {"name": name, "arguments": arguments}}


FIVE = [
    row(1, "user", "hello"),
    row(2, "assistant", "hi"),
    row(3, "user", "search"),
    row(4, "assistant", tool_calls=[call("c1", '{"q":1}')]),
    row(5, "tool", tool_results=[{"tool_call_id": "c1", "content": "found"}]),
]


MULTI_TOOL = [
    System("You are a helpful math tutor"),
    User("Find Python tutorials and create a summary"),
    Assistant(
        """[I'll search for Python tutorials first]

<tool>
{
  "server_name": "local",
  "tool_name": "web_search",
  "arguments": {"query": "Python tutorials for beginners"}
}
</tool>"""
    ),
    Tool("web_search", "Found 10 tutorials..."),
    Assistant(
        """[Now I'll create a summary]
[It should be short]

<tool>
{
  "server_name": "local",
  "tool_name": "task_completion",
  "arguments": {
    "result": "Here are the top Python tutorials:\\n1. Tutorial A...\\n2. Tutorial B..."
  }
}
</tool>"""
    ),
]
