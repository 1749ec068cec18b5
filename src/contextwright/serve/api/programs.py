"""A recorded request as a program: a curl command, a Python script, a test."""

from __future__ import annotations

import shlex
from typing import Any, Literal, TypeAlias

from contextwright.providers.hosts import HOSTS, Host, headers_for, host_for, url_for
from contextwright.store.requests import RecordedRequest
from contextwright.text.json import encode_json

__all__ = ["ProgramKind", "program_of"]

ProgramKind: TypeAlias = Literal["curl", "python", "test"]

SCRIPT = """\
import json
import os
import urllib.request

BODY = json.loads({body!r})
HEADERS = {headers}
request = urllib.request.Request({url!r}, json.dumps(BODY).encode(), HEADERS)
with urllib.request.urlopen(request) as answer:
    print(answer.read().decode())
"""
TEST = """\
import json

import contextwright as cw

PAYLOAD = json.loads({body!r})


def test_request_{number}() -> None:
    problems = cw.check(PAYLOAD, {format!r}, model={model!r})
    assert [problem for problem in problems if problem.level == "error"] == []
"""


def program_of(kind: ProgramKind, record: RecordedRequest, payload: dict[str, Any]) -> str:
    """Return a program that sends a request to its provider, or checks it; it holds no key.

    Content is one literal of the program's language, and never a part of the program.
    """
    # Without line breaks, nothing in it can end the document that a shell reads.
    body = encode_json(payload).decode()
    host = host_of(record)
    if kind == "curl":
        return curl(host, record.sent_model, body)
    if kind == "python":
        headers = ", ".join(
            f"{name!r}: {python_value(value, host)}" for name, value in headers_of(host).items()
        )
        url = url_for(host, record.sent_model)
        return SCRIPT.format(body=body, headers=f"{{{headers}}}", url=url)
    return TEST.format(
        body=body, number=record.number, format=record.upstream_format, model=record.sent_model
    )


def host_of(record: RecordedRequest) -> Host:
    """Return the host of a request's upstream, else one that speaks its API."""
    known, format = HOSTS.get(record.upstream), record.upstream_format
    return known if known and known.format == format else host_for(format)


def headers_of(host: Host) -> dict[str, str]:
    """Return the headers of a request, with the name of the variable where the key belongs."""
    key = None if host.key_variable is None else f"${host.key_variable}"
    headers = headers_for(host, key)
    del headers["accept"]
    return headers


def curl(host: Host, model: str, body: str) -> str:
    """Return a command for a shell."""
    headers = "".join(f' \\\n  -H "{name}: {value}"' for name, value in headers_of(host).items())
    url = shlex.quote(url_for(host, model))
    return f"curl {url}{headers} \\\n  --data-binary @- <<'JSON'\n{body}\nJSON\n"


def python_value(value: str, host: Host) -> str:
    """Return the value of a header as Python writes it, with the key from the environment."""
    before, variable, _ = value.partition(f"${host.key_variable}")
    if not variable:
        return repr(value)
    key = f'os.environ["{host.key_variable}"]'
    return f"{before!r} + {key}" if before else key
