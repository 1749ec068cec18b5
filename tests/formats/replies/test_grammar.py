"""What the events of a written stream say piece by piece is what they say whole, and in order."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.formats.replies.events import Event
from contextwright.formats.replies.reply import events_of
from contextwright.formats.replies.streams import read_stream, stream_writer, write_reply
from strategies.replies import JSON, REPLIES, WORDS

FORMATS = tuple(REPLIES)
CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
per_format = pytest.mark.parametrize("format", FORMATS)


def frames(events: Iterator[Event], format: str) -> list[Any]:
    writer = stream_writer(format, "m", id="id_1", created=7)
    return [frame.data for event in events for frame in writer.write(event)]


@per_format
def test_the_pieces_of_an_item_make_up_the_item(format: str) -> None:
    """Clients show the pieces of Responses, and send back the item."""

    @given(REPLIES[format])
    def law(body: JSON) -> None:
        whole = events_of(cw.parse_reply(body, format))
        sent = frames(whole, "openai-responses")
        check_items(sent)
        again = frames(read_stream(sent, "openai-responses"), "openai-responses")
        check_items(again)
        assert [item_of(event) for event in again] == [item_of(event) for event in sent]

    law()


def item_of(event: JSON) -> Any:
    return event.get("item") if event["type"] == "response.output_item.done" else None


def check_items(events: list[JSON]) -> None:
    """Each item is open when its pieces come, and holds exactly what they bring."""
    pieces: dict[Any, str] = {}
    notes: dict[int, list[Any]] = {}
    opened: JSON = {}
    items: list[JSON] = []
    for number, event in enumerate(events):
        assert event["sequence_number"] == number
        kind = event["type"].removeprefix("response.")
        place = ("summary" if "summary" in kind else "content", place_of(event))
        if kind == "output_item.added":
            assert not opened
            opened, notes = event["item"], {}
            pieces = {"call": ""} if opened["type"] in CALLS else {}
        elif kind == "output_item.done":
            assert {key: event["item"].get(key) for key in ("id", "type")} == {
                key: opened.get(key) for key in ("id", "type")
            }
            assert pieces == dict(pieces_of(event["item"]))
            assert notes == dict(notes_of(event["item"]))
            items.append(event["item"])
            opened = {}
            ids = [item["id"] for item in items if item.get("id")]
            assert len(set(ids)) == len(ids)
        elif "item_id" in event:
            assert (event["item_id"], event["output_index"]) == (opened["id"], len(items))
            if kind.endswith("part.added"):
                pieces[place] = ""
            elif kind == "output_text.annotation.added":
                notes.setdefault(event["content_index"], []).append(event["annotation"])
            elif kind.endswith(".delta"):
                pieces["call" if opened["type"] in CALLS else place] += event["delta"]
        elif "response" in event and event["response"]["status"] != "in_progress":
            assert event["response"]["output"] == items


def place_of(event: JSON) -> Any:
    return event.get("summary_index", event.get("content_index"))


def pieces_of(item: JSON) -> Iterator[tuple[Any, str]]:
    for field in ("summary", "content"):
        for number, part in enumerate(item.get(field) or ()):
            yield (field, number), part.get("text", part.get("refusal"))
    if item["type"] in CALLS:
        yield "call", item[CALLS[item["type"]]]


def notes_of(item: JSON) -> Iterator[tuple[int, list[Any]]]:
    for number, part in enumerate(item.get("content") or ()):
        if part.get("annotations"):
            yield number, part["annotations"]


START: JSON = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
CALLED: list[JSON] = [
    {"type": "message_start", "message": START},
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "t1", "name": "now", "input": {}},
    },
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}},
    {"type": "message_stop"},
]


def test_clients_that_decode_arguments_get_json_where_claude_sends_nothing() -> None:
    chunks = frames(read_stream(CALLED, "anthropic"), "openai-chat")
    deltas = [call for one in chunks[:-1] for choice in one["choices"] for call in calls_in(choice)]
    assert "".join(call["function"]["arguments"] for call in deltas) == "{}"
    check_items(frames(read_stream(CALLED, "anthropic"), "openai-responses"))


def calls_in(choice: JSON) -> list[JSON]:
    return choice["delta"].get("tool_calls", [])


def chunk(delta: JSON) -> JSON:
    return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta}]}


@given(st.lists(st.tuples(st.sampled_from(("reasoning", "content")), WORDS), min_size=1))
def test_reasoning_and_text_that_take_turns_are_items_of_their_own(pieces: Any) -> None:
    """Claude thinks between its texts, and hosts of chat stream both as they come."""
    sent = [chunk({field: words}) for field, words in pieces]
    made = frames(read_stream([*sent, "[DONE]"], "openai-chat"), "openai-responses")
    check_items(made)
    reply = cw.parse_stream(made, "openai-responses").answer
    for field, kind in (("reasoning", cw.Thinking), ("content", cw.Text)):
        read = "".join(part.text for part in reply.parts if isinstance(part, kind))
        assert read == "".join(words for name, words in pieces if name == field)


@per_format
def test_an_error_comes_after_the_calls_that_arrived_before_it(format: str) -> None:
    """Chat has no mark at the end of a call; clients read nothing that follows an error."""
    calls = [
        {"index": 0, "id": "c0", "function": {"name": "f", "arguments": '{"a":1}'}},
        {"index": 1, "id": "c1", "function": {"name": "g", "arguments": "{}"}},
    ]
    stream = [chunk({"tool_calls": calls}), {"error": {"message": "Busy.", "code": 503}}]
    sent = frames(read_stream(stream, "openai-chat"), format)
    ends = [one for one in sent if one.get("type") == "error" or one.get("error")]
    assert ends[0] in sent[-2:]  # Responses says how it ended after that
    before = sent[: sent.index(ends[0])]
    read = cw.parse_stream(before, format).messages[0].calls
    assert [(call.name, call.arguments) for call in read] == [("f", {"a": 1}), ("g", {})]


def test_the_old_way_of_calling_stays_as_it_was() -> None:
    call = {"name": "f", "arguments": '{"a":1}'}
    message = {"role": "assistant", "content": None, "function_call": call}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "function_call"}]}
    reply = cw.parse_reply(body, "openai-chat")
    (choice,) = write_reply(reply, "openai-chat").body["choices"]
    assert choice["message"]["function_call"] == call
    assert "tool_calls" not in choice["message"]
    sent = frames(events_of(reply), "openai-chat")
    assert cw.parse_stream(sent, "openai-chat").messages == reply.messages
    assert [one["choices"][0]["delta"].get("tool_calls") for one in sent[:-1]] == [None] * 4
    for format in ("anthropic", "gemini", "openai-responses"):
        lost = [change.code for change in write_reply(reply, format).changes]
        assert not [code for code in lost if code.startswith("loss")]
