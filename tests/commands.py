"""Commands run in this process, and their output."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import pytest

from contextwright.cli import main


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Run: TypeAlias = Callable[..., Outcome]


def runner(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Who runs commands: `cw("check", "-", input=…)`."""

    def run(*arguments: str, input: Any = b"") -> Outcome:
        data = input if isinstance(input, bytes) else json.dumps(input).encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        code = main(arguments)
        out, err = capsysbinary.readouterr()
        return Outcome(code, out.decode(), err.decode())

    return run


def only_line(text: str) -> str:
    """The one line that an error is."""
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert "Traceback" not in text
    return text[:-1]
