"""Commands on recorded requests, one after the other: all that they print."""

from __future__ import annotations

import json
import os
import shlex
from copy import deepcopy
from typing import Any

import pytest
from msgspec.structs import replace

import contextwright
from commands import Run
from contextwright.context.receipt import Comparison
from contextwright.formats.replies.events import Usage
from contextwright.store.requests import RecordedFork, RecordedRequest
from fuzzing.readers import MODELS
from golden_files import compare
from providers.standin import KEY, said, serving
from samples.native import PAYLOADS
from store.rows.recorded.test_requests import RECORD, recorded

BARE = RecordedRequest(
    started="2026-11-16T23:59:59.500Z",
    format="anthropic",
    upstream_format="anthropic",
    upstream="anthropic",
    mode="pass-through",
    model="claude-sonnet-5-5",
    sent_model="claude-sonnet-5-5",
)
RECORDS = {
    "bare": BARE,
    "translated": replace(RECORD, previous=1),
    "failed": replace(BARE, error="rate_limit", status=429, seconds=0.25, messages=1),
    "unreachable": replace(BARE, error="connection", seconds=12.0, client="/1"),
    "full": replace(
        RECORD,
        first=3,
        last=4,
        fork=RecordedFork("a", 2, "rewind"),
        status=200,
        first_byte=0.0625,
        seconds=1.5,
        messages=1_200,
        request_bytes=1_048_576,
        reply_bytes=2_000,
        usage=Usage(20_000, 700, 15_000, 4_000, 650),
        price=0.0125,
        changes=(*RECORD.changes, contextwright.Change("repair.order", "messages[2]", "moved")),
        previous=2,
        prefix=Comparison(18_000, 20_000, None, None, "nothing changed, only added", 0.0),
        masked=True,
    ),
    "nothing sent": replace(
        BARE,
        usage=Usage(0, 0),
        price=0.0,
        previous=5,
        prefix=Comparison(0, 0, "tools", None, "new", None),
    ),
    "redacted": replace(
        BARE,
        redacted=True,
        previous=1,
        prefix=RECORD.prefix,
        changes=(contextwright.Change("invent.max_tokens", "max_tokens", ""),),
    ),
}
ENTRIES = {
    "anthropic": "messages",
    "gemini": "contents",
    "openai-chat": "messages",
    "openai-responses": "input",
}
STORY = """
requests
requests --limit 2
requests --before 3
requests --before 1
requests redacted
requests full --json
show-request 1
show-request 2
show-request 3
show-request 4
show-request 5
show-request 5 --json
show-request 6
show-request 7
show-request 99
show-request 1 --body request
show-request 1 --body upstream
show-request 1 --body reply
replay 1
replay 1 --format openai-chat --changes
replay 1 --to gemini
replay 1 --to gemini --model gemini-3.8-flash --changes
replay 5 --format anthropic --model claude-opus-5
replay 1 --to elsewhere
replay 1 --format aya
replay 1 --to echo --send
replay 1 --to anthropic --send
replay 1 --to anthropic --send --json
"""


@pytest.fixture
def store(own_store: None) -> contextwright.Store:
    return contextwright.Store(os.environ["CONTEXTWRIGHT_STORE"], sync="fast")


def told(cw: Run, line: str) -> str:
    """A command, and all that it prints."""
    code, out, err = cw(*shlex.split(line))
    return f"$ cw {line}\n{out}{err}" + (f"exit code {code}\n" if code else "")


def test_all_that_commands_print_of_requests(
    store: contextwright.Store, cw: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {
        "model": "claude-sonnet-5-5",
        "max_tokens": 64,
        "messages": [
            {"role": "user", "content": "Which soup?"},
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "…", "signature": ""}],
            },
            {"role": "user", "content": "And?"},
        ],
    }
    with store:
        for name, record in RECORDS.items():
            recorded(store, name, [json.dumps(body).encode()], record)
    answer = replace(said("Borscht."), usage=Usage(1_000, 10, 900))
    with serving(answer) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
        lines = [told(cw, line) for line in filter(None, STORY.splitlines())]
    compare("request-commands", "\n".join(lines))


def variants(format: str) -> list[dict[str, Any]]:
    """A request, the same with more, with an empty turn, with an edit, in another order, anew."""
    whole = PAYLOADS[format]
    field = ENTRIES[format]
    user = whole[field][0]
    more = {**whole, field: [*whole[field], user, user]}
    hollow = {**whole, field: [*whole[field], user, {"role": "user", "content": ""}]}
    edited = deepcopy(more)
    edited[field][-2] = whole[field][1]
    backwards = dict(reversed(more.items()))
    fewer = {**more, field: more[field][1:], "tools": []}
    return [whole, more, hollow, edited, backwards, fewer, {"model": MODELS[format], field: [user]}]


def test_all_that_is_told_of_two_requests(store: contextwright.Store, cw: Run) -> None:
    lines: list[str] = []
    with store:
        for format, model in MODELS.items():
            record = replace(BARE, format=format, upstream_format=format, sent_model=model)
            bodies = [json.dumps(one).encode() for one in variants(format)]
            first, *others = recorded(store, format, bodies, record)
            pairs = [(first, other) for other in others] + [(others[0], other) for other in others]
            lines += (f"diff {one} {other}" for one, other in pairs)
            lines.append(f"diff {first} {others[2]} --json")
    compare("request-differences", "\n".join(told(cw, line) for line in lines))
