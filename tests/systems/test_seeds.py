"""The five systems' own documents: their examples, to every provider and back."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw

PROVIDERS = {
    "anthropic": "claude-opus-5",
    "gemini": "gemini-3.8-flash",
    "openai-chat": "gpt-5.6-sol",
    "openai-responses": "gpt-5.6-sol",
}


@pytest.fixture(scope="module")
def seeds(data_folder: Path) -> Path:
    folder = data_folder.parent / "seeds"
    if not folder.is_dir():
        pytest.skip("the systems' documents are not here")
    return folder


def json_blocks(document: str) -> Iterator[tuple[str, Any]]:
    """The fenced JSON of a document that is JSON, with its text."""
    for text in re.findall(r"```json\n(.*?)```", document, re.DOTALL):
        try:
            yield text.rstrip("\n"), json.loads(text)
        except json.JSONDecodeError:
            continue  # a sketch of a structure, not an example


def examples(seeds: Path) -> Iterator[tuple[str, str | None, Any]]:
    """Format, text as the document has it, data."""
    for text, data in json_blocks(next(seeds.glob("000_*")).read_text()):
        if isinstance(data, list):
            yield "aya", text, data
    for text, data in json_blocks(next(seeds.glob("003_*")).read_text()):
        if isinstance(data, list):
            yield "gryag", text, data
        elif "role" in data:
            yield "gryag", None, [data]  # the media example: `[meta]` goes, as ruled
    for text, data in json_blocks(next(seeds.glob("004_*")).read_text()):
        if "messages" in data:
            yield "port42", text, data
    forge = next(seeds.glob("002_*")).read_text()
    for section in re.split(r"\n### ", forge):
        messages = [
            {"role": role.lower(), "content": content}
            for role, content in re.findall(
                r"message\.(System|User|Assistant)\(`([^`]*)`\)", section
            )
        ]
        if messages:
            yield "forge", None, messages


def test_examples_reach_every_provider_and_come_back(seeds: Path) -> None:
    seen: dict[str, int] = {}
    for format, text, data in examples(seeds):
        seen[format] = seen.get(format, 0) + 1
        for provider, model in PROVIDERS.items():
            rendered = cw.convert(data, format, provider, model=model)
            problems = cw.check(rendered.payload, provider, model=model)
            assert [str(one) for one in problems if one.level == "error"] == []
        back = cw.convert(data, format, format)
        if text is not None:
            assert back.payload == data
            assert back.changes == ()
            indented = json.dumps(back.payload, ensure_ascii=False, indent=2)
            assert json.loads(indented) == json.loads(text)
            assert re.sub(r"\s", "", indented) == re.sub(r"\s", "", text)
        elif format == "forge":
            assert back.payload == data
            assert back.changes == ()
    assert seen["aya"] == 1
    assert seen["gryag"] == 3
    assert seen["port42"] == 1
    assert seen["forge"] >= 6


def test_the_aya_example_is_byte_equal(seeds: Path) -> None:
    """AYA-1: the same indent, the same bytes."""
    for format, text, data in examples(seeds):
        if format == "aya":
            assert (
                json.dumps(cw.convert(data, "aya", "aya").payload, ensure_ascii=False, indent=2)
                == text
            )
