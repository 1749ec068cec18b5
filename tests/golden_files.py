"""Whole outputs beside files: `WRITE_CASES=1 pytest …` rewrites them; read the difference."""

import json
import os
import re
from collections.abc import Iterable
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

import contextwright as cw
from fuzzing.readers import FOLDER, Reader, attempt, read_body, result_of
from paths import GOLDEN

OTHER_TARGETS = (
    *(("anthropic", model) for model in ("claude-3-5-haiku", "claude-opus-4-8")),
    ("gemini", "gemini-2.5-flash"),
    *(("openai-responses", model) for model in ("o3", "gpt-4o")),
    *(("openai-chat", model) for model in ("gpt-4", "o3", "gpt-6-sol", "deepseek-reasoner")),
    *(("openai-chat", model) for model in ("mistral-large", "kimi-k3", "command-a")),
)
"""Formats and models of other abilities than those that fuzzing writes for."""


def compare(name: str, output: object) -> None:
    """The output as its file has it."""
    plain = isinstance(output, str)
    text = output if plain else json.dumps(output, ensure_ascii=False, indent=1)
    path = GOLDEN / f"{name}.{'txt' if plain else 'json'}"
    if os.environ.get("WRITE_CASES"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{text}\n", "utf-8")
    assert f"{text}\n" == path.read_text("utf-8"), "if it is meant: WRITE_CASES=1 pytest …"


def compare_digests(
    name: str, outcomes: Iterable[tuple[object, object]], *, digits: int = 6
) -> None:
    """What becomes of each input, as digests, because whole outputs would be megabytes.

    `digits` of long numbers count: of those made of vectors fewer are the same on every machine.

    To read a difference, run with `OUTCOMES=FOLDER` here and at the commit before, and compare the
    two folders.
    """
    path = GOLDEN / "digests" / f"{name}.txt"
    known = set(path.read_text("ascii").splitlines()) if path.exists() else set[str]()
    lines: list[str] = []
    changed: list[str] = []
    whole: list[str] = []
    for given, outcome in outcomes:
        text = encoded(outcome, digits)
        whole.append(f"{given!r}\n{text}\n")
        lines.append(f"{digest(encoded(given))} {digest(text)}")
        if lines[-1] not in known:
            changed.append(f"{given!r}\n  now becomes\n{text}")
    if folder := os.environ.get("OUTCOMES"):
        Path(folder, f"{name}.txt").write_text("\n".join(whole), "utf-8", "backslashreplace")
    if not os.environ.get("WRITE_CASES"):
        assert not changed, f"{len(changed)} others than in {path.name}, first:\n{changed[0]}"
    compare(f"digests/{name}", "\n".join(lines))


def encoded(value: object, digits: int = 6) -> str:
    """A value as JSON in ASCII, so that half characters can be in it too.

    Without the last digits of numbers, in which machines differ.
    """
    plain = msgspec.to_builtins(value, enc_hook=repr, order="deterministic")
    text = json.dumps(plain).replace(FOLDER.name, "FOLDER")
    long = r"\d+\.\d{7,}(?:e-?\d+)?"
    return re.sub(long, lambda number: f"{float(number[0]):.{digits}g}", text)


def digest(text: str) -> str:
    return blake2b(text.encode("ascii"), digest_size=6).hexdigest()


def compare_problems(format: str, requests: Iterable[tuple[Any, str | None]]) -> None:
    """All that a check says of these payloads, each for a model; what they become elsewhere."""
    bodies = list(requests)
    problems = (one for body, model in bodies for one in cw.check(body, format, model=model))
    compare(f"problems-{format}", "\n".join(map(str, problems)))
    compare_digests(f"problems-{format}", ((body, readings(format, body)) for body, _ in bodies))


def readings(format: str, body: Any) -> list[object]:
    """What becomes of a request with the usual models, and with others."""
    usual = attempt(Reader(partial(read_body, format), ()), json.dumps(body).encode())
    conversation = result_of(cw.parse, body, format)
    if not isinstance(conversation, cw.Conversation):
        return usual
    others = (result_of(cw.render, conversation, to, model=model) for to, model in OTHER_TARGETS)
    return [*usual, *others]
