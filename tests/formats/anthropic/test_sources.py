"""Search results and documents whose text is blank."""

from typing import Any

import contextwright as cw

MODEL = "claude-sonnet-5-5"
CALL = {"type": "tool_use", "id": "t", "name": "f", "input": {}}


def found(*texts: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text} for text in texts]
    return {"type": "search_result", "source": "https://a.b", "title": "T", "content": content}


def chunks(*texts: str, **fields: Any) -> dict[str, Any]:
    source = {"type": "content", "content": found(*texts)["content"]}
    return {"type": "document", "source": source, **fields}


def request(asked: list[Any], answered: list[Any]) -> dict[str, Any]:
    result = {"type": "tool_result", "tool_use_id": "t", "content": answered}
    messages = [
        {"role": "user", "content": asked},
        {"role": "assistant", "content": [CALL]},
        {"role": "user", "content": [result]},
    ]
    return {"model": MODEL, "max_tokens": 9, "messages": messages}


def test_blank_texts_are_left_out_of_sources() -> None:
    body = request(
        [found("a", " "), chunks("", "b"), chunks("")], [found("", "c"), chunks("\n", title="D")]
    )
    refused = [one.path for one in cw.check(body, "anthropic") if one.code == "A-empty-text"]
    assert refused == [
        "messages[0].content[0].content[1].text",
        "messages[0].content[1].source.content[0].text",
        "messages[0].content[2].source.content[0].text",
        "messages[2].content[0].content[0].content[0].text",
        "messages[2].content[0].content[1].source.content[0].text",
    ]
    mended = cw.convert(body, "anthropic", "anthropic")
    words = {"type": "text", "text": "D\n\n"}
    assert mended.payload == request([found("a"), chunks("b")], [found("c"), words])
    assert [f"{change.code} {change.path}" for change in mended.changes] == [
        "loss.blank messages[0].parts[0]",
        "loss.blank messages[0].parts[1]",
        "loss.blank messages[0].parts[2]",
        "loss.blank messages[2].parts[0]",
    ]
    assert [one.code for one in cw.check(mended.payload, "anthropic")] == ["A-tools-missing"]
