"""Requests to Claude that are larger than 32 MB."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.formats.anthropic.size import STEP, Cut
from contextwright.wire.media import ANTHROPIC_BYTES, MEGABYTE

MODEL = "claude-sonnet-5-5"
PICTURE = cw.Media("image", "image/png", "A" * 4 * MEGABYTE)
"""Eight of them fill a request."""


def sent(*messages: cw.Message) -> list[str]:
    """What becomes of the media of a history, which fits then and says what is left out."""
    rendered = cw.render(cw.Conversation(messages), "anthropic", model=MODEL)
    assert len(rendered.json) <= ANTHROPIC_BYTES
    assert cw.check(rendered.payload, "anthropic") == []
    blocks = [block for turn in rendered.payload["messages"] for block in turn["content"]]
    shown = [block["type"] if "source" in block else block["text"] for block in blocks]
    lost = [change for change in rendered.changes if change.code == "loss.media"]
    assert len(lost) == shown.count("[image]") + shown.count("[document]")
    return shown


def test_the_oldest_media_are_left_out() -> None:
    shown = sent(*[cw.user(PICTURE)] * 9, cw.user("Which?"))
    assert shown == ["[image]"] * 2 + ["image"] * 7 + ["Which?"]


@given(st.lists(st.integers(1, 7 * MEGABYTE), max_size=60), st.integers(0, 4 * MEGABYTE))
def test_a_growing_history_is_cut_in_steps(sizes: list[int], text: int) -> None:
    """Each cut costs the cached prefix, so there are few: one for each step that is passed."""
    room, cuts = ANTHROPIC_BYTES - text, {0}
    for count in range(len(sizes) + 1):
        total = sum(sizes[:count])
        if total > room:
            cut = Cut(total, room)
            left_out = [cut.takes(size) for size in sizes[:count]]
            kept = sum(sizes[left_out.count(True) : count])
            assert left_out == sorted(left_out, reverse=True)
            assert room - 2 * STEP < kept <= room
            cuts.add(left_out.count(True))
    assert len(cuts) <= 2 + max(0, sum(sizes) - room) // STEP


def test_a_large_file_that_fits_stays() -> None:
    large = cw.Media("document", "application/pdf", "JVBERi0" + "A" * (22 * MEGABYTE + 1))
    assert sent(*[cw.user(PICTURE)] * 3, cw.user([large, "Read."]))[-2:] == ["document", "Read."]


def test_text_counts_too() -> None:
    words = "a" * 2 * MEGABYTE
    talk = [*[cw.user(PICTURE)] * 7, cw.assistant(words), cw.user([PICTURE, "?"])]
    assert sent(*talk).count("[image]") > 0
    body = {"model": MODEL, "max_tokens": 9, "messages": [{"role": "user", "content": words * 16}]}
    assert [one.code for one in cw.check(body, "anthropic")] == ["X-size"]
    body["messages"] = [{"role": "user", "content": words * 15}]
    assert cw.check(body, "anthropic") == []
    assert len(msgspec.json.encode(body)) < ANTHROPIC_BYTES


def test_characters_that_json_escapes_count_as_written() -> None:
    body = {"model": MODEL, "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    room = ANTHROPIC_BYTES - len(msgspec.json.encode(body)) + len("Hi")
    for length, expected in ((room // 6, []), (room // 6 + 1, ["X-size"])):
        body["messages"] = [{"role": "user", "content": "\x01" * length}]
        assert [one.code for one in cw.check(body, "anthropic")] == expected
