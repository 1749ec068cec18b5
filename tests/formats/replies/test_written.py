"""Replies as each provider would write them, whole and as streams, from any provider's answer."""

import json
from typing import get_args

import contextwright as cw
from contextwright.formats.replies.events import FinishReason, Usage
from contextwright.formats.replies.reply import ModelReply, events_of
from contextwright.formats.replies.streams import write_reply, write_stream
from golden_files import compare

TARGETS = ("anthropic", "gemini", "openai-chat", "openai-responses")
ANSWERS: dict[str, tuple[cw.messages.Part, ...]] = {
    "nothing": (),
    "a refusal": (cw.Text("No.", {"openai-responses": {"refusal": True}}),),
    "thinking": (cw.Thinking("Hm.", "c2ln", "anthropic", "claude-opus-5"), cw.Text("Hi")),
    "calls": (
        cw.Text("Look:"),
        cw.ToolCall("f", {"a": 1}, "c1"),
        cw.ToolCall("f", {}, "c2", raw='{"a": '),
    ),
    "a picture": (cw.Media("image", "image/png", "aGk="), cw.Text("There.")),
    "a result": (cw.Text("Done."), cw.ToolResult("c1", "seen")),
    "a search": (cw.Opaque("gemini", {"executableCode": {"code": "1"}}, "[code] 1"),),
}
USAGE = Usage(input=100, output=20, cached=30, written=40, reasoning=5)


def test_every_answer_and_every_end() -> None:
    lines: list[str] = []
    for target in TARGETS:
        for name, parts in ANSWERS.items():
            finish = "tool_calls" if name == "calls" else "stop"
            reply = ModelReply((cw.Message("assistant", parts),), finish=finish, usage=USAGE)
            lines += [f"== {target}: {name}", *written(reply, target)]
            stream = b"".join(write_stream(events_of(reply), target, model="m", id="7"))
            lines += stream.decode().split("\n\n")
        for reason in get_args(FinishReason):
            for name in ("nothing", "a refusal"):
                reply = ModelReply((cw.Message("assistant", ANSWERS[name]),), finish=reason)
                lines += [f"== {target}: {reason} after {name}", *written(reply, target)]
    compare("replies", "\n".join(lines))


def written(reply: ModelReply, target: str) -> list[str]:
    found = write_reply(reply, target, model="m", id="7")
    return [json.dumps(found.body), *map(str, found.changes)]
