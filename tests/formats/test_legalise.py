"""Rules run on every history that needs them: a look that finds it in order must be right."""

from collections.abc import Iterator
from functools import partial
from itertools import product

import pytest

import contextwright as cw
from contextwright.formats import NAMES
from contextwright.messages.message import Part, Role
from fuzzing.readers import MODELS, OTHERS, result_of
from golden_files import compare_digests
from strategies.messages import PNG

CALL = cw.assistant(cw.ToolCall("look", {}, "c1"))
RESULT = cw.tool_result("c1", "seen")
HISTORIES = {
    "words between a call and its result": [CALL, cw.user("Wait."), RESULT],
    "words before a result in one message": [
        CALL,
        cw.Message("user", (cw.Text("Wait."), cw.ToolResult("c1", "seen"))),
    ],
    "words of a tool that are no result": [
        CALL,
        RESULT,
        cw.Message("tool", (cw.Text("Wait."),)),
    ],
}


@pytest.mark.parametrize("name", HISTORIES)
@pytest.mark.parametrize("format", ["anthropic", "gemini", "openai-chat", "openai-responses"])
def test_words_at_a_place_where_only_results_may_be(name: str, format: str) -> None:
    messages = (cw.user("Look."), *HISTORIES[name], cw.assistant("Done."), cw.user("And now?"))
    written = cw.render(cw.Conversation(messages, tools=(cw.Tool("look"),)), format)
    assert cw.check(written.payload, format) == []
    codes = {change.code for change in written.changes}
    assert codes & {"repair.order", "repair.role"}


@pytest.mark.parametrize("format", [name for name in NAMES if name != "contextwright"])
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_what_is_hidden_is_not_written(format: str, role: Role) -> None:
    """Also where there is nothing else."""
    hidden = cw.Message(role, (cw.Text("psst"),), visibility="internal")
    for messages in ([hidden], [cw.user("hello"), hidden]):
        assert b"psst" not in cw.render(messages, format).json


BARE = ([], [cw.system("Be kind.")], [cw.assistant("Hi")], [cw.user(" ")])
RULE, SAID, START = "system: Be kind.", "assistant: Hi", "user: [start of conversation]"
BEGUN = [START], [RULE, START], [START, SAID, "user: [continue]"], [START]
KEPT = [], [RULE], [SAID], ["user:  "]
SENT = {
    "anthropic": BEGUN,
    "aya": ([], [RULE], ["assistant: "], ["user:  "]),  # an answer is a call of a reply tool
    "chatml": ([START], [RULE], [START, SAID], ["user:  "]),
    "contextwright": KEPT,
    "forge": KEPT,
    "gemini": BEGUN,
    "gryag": KEPT,
    "openai-chat": ([START], [RULE], [SAID], ["user:  "]),
    "openai-responses": ([START], [RULE, START], [SAID], ["user:  "]),
    "port42": KEPT,
}
"""What each format sends of nothing, of a rule, an answer and a blank question alone."""


@pytest.mark.parametrize("format", NAMES)
def test_what_is_sent_of_next_to_nothing(format: str) -> None:
    payloads = [cw.render(messages, format).payload for messages in BARE]
    read = [cw.parse(payload, format).messages for payload in payloads]
    assert tuple([f"{one.role}: {one.text}" for one in some] for some in read) == SENT[format]


KINDS = {
    "system": cw.system("Be kind."),
    "user": cw.user("Look.", author=cw.Author("U1", "Ann")),
    "assistant": cw.assistant("Done."),
    "call": cw.assistant([cw.Text("I look."), cw.ToolCall("look", {"at": 1}, "c1")]),
    "result": RESULT,
    "aside": cw.Message("tool", (cw.Text("Wait."),)),
    "blank": cw.user(" "),
}
TARGETS = [*MODELS.items(), *((name, "gpt-4o") for name in OTHERS), ("chatml", "o1-mini")]


def test_what_becomes_of_messages_in_any_order() -> None:
    def outcomes() -> Iterator[tuple[object, object]]:
        for order in product(KINDS, repeat=3):
            talk = cw.Conversation(tuple(KINDS[kind] for kind in order), (cw.Tool("look"),))
            written = [result_of(cw.render, talk, to, model=model) for to, model in TARGETS]
            yield order, written

    compare_digests("orders", outcomes())


URL_SAFE = PNG.replace("+", "-").replace("/", "_")
PARTS: dict[str, Part] = {
    "text": cw.Text("Seen."),
    "no text": cw.Text(""),
    "blank text": cw.Text(" \n"),
    "text with a space behind": cw.Text("Seen. "),
    "thinking": cw.Thinking("Hm."),
    "signed thinking": cw.Thinking("Hm.", signature="c2ln", origin="anthropic"),
    "another's thinking": cw.Thinking("Hm.", signature="c2ln", origin="gemini"),
    "hidden thinking": cw.Thinking("", signature="c2ln", origin="anthropic", redacted=True),
    "call": cw.ToolCall("look", {"at": 1}, "c2"),
    "call without an id": cw.ToolCall("look", {}),
    "call of an unknown tool": cw.ToolCall("look at.it", {"at": None}, "c 2"),
    "call whose name begins with a digit": cw.ToolCall("7up", {}, "c2"),
    "call with a long name": cw.ToolCall("look" * 40, {}, "c2" * 40),
    "call with text": cw.ToolCall.from_json("look", "at it", id="c2"),
    "result": cw.ToolResult("c1", "seen"),
    "empty result": cw.ToolResult("c1", ""),
    "blank result": cw.ToolResult("c1", " "),
    "error": cw.ToolResult("c1", "broken", is_error=True),
    "empty error": cw.ToolResult("c1", "", is_error=True),
    "blank error": cw.ToolResult("c1", " ", is_error=True),
    "object": cw.ToolResult("c1", {"seen": 1}),
    "result in pieces": cw.ToolResult("c1", (cw.Text("seen"), cw.Text(""))),
    "picture in a result": cw.ToolResult("c1", (cw.Media("image", "image/png", PNG),)),
    "result of no call": cw.ToolResult("c9", "seen", name="look"),
    "picture": cw.Media("image", "image/png", PNG),
    "named picture": cw.Media("image", "image/png", PNG, name="it.png"),
    "picture without padding": cw.Media("image", "image/png", PNG.rstrip("=")),
    "picture in letters of addresses": cw.Media("image", "image/png", URL_SAFE),
    "mislabelled picture": cw.Media("image", "image/jpeg", PNG),
    "address of a picture": cw.Media("image", url="https://example.com/it.png"),
    "uploaded picture": cw.Media("image", file_id="file_1", origin="openai-chat"),
    "document": cw.Media("document", "application/pdf", "JVBERi0=", name="it.pdf"),
    "text file": cw.Media("document", "text/plain", "aGk=", name="it.txt"),
    "sound": cw.Media("audio", "audio/mpeg", "aGk="),
    "video": cw.Media("video", "video/mp4", "aGk="),
    "block": cw.Opaque("anthropic", {"type": "server_tool_use", "id": "s1", "name": "web_search"}),
    "another's block": cw.Opaque("somewhere", {"type": "hosted"}, "what it says"),
}
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")


def test_what_becomes_of_every_part() -> None:
    """In a message of each role, alone and before words, behind a call that is open."""

    def outcomes() -> Iterator[tuple[object, object]]:
        for role, name, rest in product(ROLES, PARTS, ((), (cw.Text("And this."),))):
            message = cw.Message(role, (PARTS[name], *rest), author=cw.Author("U1", "Ann"))
            messages = cw.user("Look."), CALL, message
            talk = cw.Conversation(messages, (cw.Tool("look"),))
            written = [result_of(cw.render, talk, to, model=model) for to, model in TARGETS]
            yield (role, name, len(rest)), written

    compare_digests("parts", outcomes())


def test_what_is_written_of_every_part_without_repair() -> None:
    """Also of parts that no message of their role may have."""

    def outcomes() -> Iterator[tuple[object, object]]:
        for role, name in product(ROLES, PARTS):
            message = cw.Message(role, (cw.Text("This:"), PARTS[name], cw.Text("And this.")))
            talk = cw.Conversation((CALL, message), (cw.Tool("look"),))
            render = partial(cw.render, repair=False)
            written = [result_of(render, talk, to, model=model) for to, model in TARGETS]
            yield (role, name), written

    compare_digests("unmended-parts", outcomes())
