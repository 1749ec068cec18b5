"""Claude Code's way of asking: the whole history each time, with marks that move."""

import json
import weakref
from typing import Any

import anthropic

import contextwright as cw
from contextwright.formats.replies.events import Usage
from providers.standin import KEY

MODEL = "claude-sonnet-5-5"
MARK = {"type": "ephemeral"}
TOOLS = [
    {
        "name": name,
        "description": f"{name} does one thing well. " * 20,
        "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}},
    }
    for name in ("Bash", "Edit", "Read", "Write")
]
SYSTEM = [
    {"type": "text", "text": "x-billing-header: version=2.1"},
    {"type": "text", "text": "You are a careful agent. " * 120, "cache_control": MARK},
]
REMINDER = {"type": "text", "text": "<system-reminder>Today is Monday.</system-reminder>"}
ENVIRONMENT = {"role": "system", "content": "# Environment\n - Platform: linux\n" * 8}


class ClaudeCode:
    """A session of the program: it asks, keeps what is answered, and asks on."""

    def __init__(
        self, address: str, session: str = "5e551011", key: str = KEY, agent: str = ""
    ) -> None:
        self.client = anthropic.Anthropic(
            base_url=address,
            api_key=key,
            max_retries=0,
            default_headers={
                "x-api-key": key,
                "x-claude-code-session-id": session,
                **({"x-claude-code-agent-id": agent} if agent else {}),
                "User-Agent": "claude-cli/2.1.325 (external, sdk-cli)",
            },
        )
        weakref.finalize(self, self.client.close)
        self.messages: list[dict[str, Any]] = []

    def ask(
        self, question: str, tools: list[dict[str, Any]] | None = None
    ) -> anthropic.types.Message:
        """Ask a question, as the first of a session with what the program adds."""
        text = {"type": "text", "text": question}
        if self.messages:
            self.messages.append({"role": "user", "content": [text]})
        else:
            self.messages = [{"role": "user", "content": [REMINDER, text]}, ENVIRONMENT]
        return self.go_on(tools)

    def give_result(self, result: str) -> anthropic.types.Message:
        """Answer the call of a tool."""
        calls = [block for block in self.messages[-1]["content"] if block["type"] == "tool_use"]
        results = [
            {"type": "tool_result", "tool_use_id": call["id"], "content": result} for call in calls
        ]
        self.messages.append({"role": "user", "content": results})
        return self.go_on()

    def go_on(self, tools: list[dict[str, Any]] | None = None) -> anthropic.types.Message:
        """Send the history, and keep the answer."""
        with self.client.messages.stream(
            model=MODEL,
            max_tokens=32_000,
            system=SYSTEM,  # pyright: ignore[reportArgumentType]
            tools=TOOLS if tools is None else tools,  # pyright: ignore[reportArgumentType]
            messages=marked(self.messages),  # pyright: ignore[reportArgumentType]
            thinking={"type": "adaptive"},  # pyright: ignore[reportArgumentType]
        ) as events:
            answer = events.get_final_message()
        content = [block.model_dump(exclude_none=True) for block in answer.content]
        self.messages.append({"role": "assistant", "content": content})
        return answer


def marked(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The history with a mark on its last message; one without a mark is a bare string."""
    told = [
        {**message, "content": blocks_of(message)[0]["text"]}
        if [block["type"] for block in blocks_of(message)] == ["text"]
        else message
        for message in messages
    ]
    *blocks, last = blocks_of(messages[-1])
    content = [*blocks, {**last, "cache_control": MARK}]
    return [*told[:-1], {**messages[-1], "content": content}]


def blocks_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The content of a message as blocks."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


class PromptCache:
    """A provider's cache, which remembers a request up to its last message."""

    def __init__(self) -> None:
        self.known: set[str] = set()

    def usage(self, body: dict[str, Any]) -> Usage:
        """The tokens of a request; those of the longest known prefix come from the cache."""
        messages = [plain(message) for message in body["messages"]]
        found = 0
        for length in range(1, len(messages) + 1):
            prefix = json.dumps([body["tools"], body["system"], messages[:length]])
            if prefix in self.known:
                found = length
        self.known.add(json.dumps([body["tools"], body["system"], messages]))
        whole = cw.count(body, model=MODEL, format="anthropic").tokens
        known = {**body, "messages": messages[:found]}
        cached = cw.count(known, model=MODEL, format="anthropic").tokens if found else 0
        return Usage(whole, 20, cached, whole - cached)


def plain(message: dict[str, Any]) -> dict[str, Any]:
    """A message as blocks without marks."""
    blocks = [
        {name: value for name, value in block.items() if name != "cache_control"}
        for block in blocks_of(message)
    ]
    return {**message, "content": blocks}
