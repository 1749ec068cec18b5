"""Halves of characters, which no JSON can hold, become U+FFFD, with a change."""

import contextwright as cw

HI = {"role": "user", "content": "hi"}


def test_half_a_character_in_the_name_of_a_model() -> None:
    mended = cw.convert({"model": "m\ud800", "messages": [HI]}, "openai-chat", "openai-chat")
    assert mended.payload == {"model": "m\ufffd", "messages": [HI]}
    assert list(map(str, mended.changes)) == [
        "repair.surrogate model: a lone surrogate became U+FFFD"
    ]


def test_half_a_character_in_a_document_is_mended_where_it_can_be_seen() -> None:
    source = {"type": "text", "media_type": "text/plain", "data": "one\ud83d"}
    block = {"type": "document", "source": source}
    body = {
        "model": "claude-opus-5",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": [block]}],
    }
    same = cw.convert(body, "anthropic", "anthropic")
    assert same.payload["messages"][0]["content"][0]["source"]["data"] == "one\ufffd"
    assert {change.code for change in same.changes} == {"repair.surrogate"}
    other = cw.convert(body, "anthropic", "openai-chat", model="gpt-5.6-sol")
    assert other.payload["messages"] == [{"role": "user", "content": "one\ufffd"}]
