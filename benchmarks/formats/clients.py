"""What of real clients' requests arrives at the other three APIs.

    uv run python -m benchmarks.formats.clients --data FOLDER
    uv run --with 'litellm[proxy]' python -m benchmarks.formats.clients --data FOLDER --peers

FOLDER holds recorded requests, `NAME.FORMAT.N.json` with `{"body": …}`. For each pair of formats
the table says how many of the tools sent arrive, how many efforts and structured outputs are
carried, how many errors `cw.check` finds in what was made, and how many requests failed. Tools are
counted in the bodies themselves. LiteLLM is called as its users call it, with `drop_params` and
`modify_params`, and sends to a server on this machine, which keeps the body. Nothing leaves it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import contextwright as cw
from contextwright import formats
from contextwright.formats.settings import effort_of

FORMATS = ("openai-chat", "openai-responses", "anthropic", "gemini")
HEAD = ("from", "to", "by", "requests", "tools", "effort", "output", "errors", "failed")
LINE = "{:18}{:18}{:15}{:>9}{:>12}{:>9}{:>9}{:>8}{:>8}"
Body = dict[str, Any]


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--data", type=Path, required=True, help="folder of recorded requests")
    options.add_argument("--peers", action="store_true", help="LiteLLM, where installed")
    given = options.parse_args()
    ways: dict[str, Callable[[Body, str, str], Body]] = {"contextwright": converted}
    if given.peers:
        ways["litellm"] = by_litellm
    rows: dict[tuple[str, str, str], Counter[str]] = {}
    for source, body in requests(given.data):
        for target in FORMATS:
            for by, way in ways.items():
                if target != source and (by == "contextwright" or target in PEERS):
                    row = rows.setdefault((source, target, by), Counter())
                    measure(body, source, target, way, row)
    print(LINE.format(*HEAD))
    for (source, target, by), row in sorted(rows.items()):
        tools, effort, output = (
            f"{row[arrived]}/{row[given]}"
            for arrived, given in (("tools", "sent"), ("effort", "asked"), ("output", "wanted"))
        )
        counts = (row["requests"], tools, effort, output, row["errors"], row["failed"])
        print(LINE.format(source, target, by, *counts))
    return 0


def requests(folder: Path) -> Iterator[tuple[str, Body]]:
    """The recorded bodies with their formats; requests that only count are left out."""
    for path in sorted(folder.glob("*.json")):
        format = path.name.split(".")[-3].removesuffix("-ws")
        body = json.loads(path.read_text("utf-8")).get("body")
        if format in FORMATS and isinstance(body, dict) and (body.get("input") != []):
            yield format, body


def model_of(format: str) -> str:
    return formats.find(format).default_model or ""


def measure(
    body: Body,
    source: str,
    target: str,
    way: Callable[[Body, str, str], Body],
    row: Counter[str],
) -> None:
    """One conversion, counted."""
    asked = cw.parse(body, source).settings
    row["requests"] += 1
    row["sent"] += tools_in(body)
    row["asked"] += effort_of(asked) is not None
    row["wanted"] += asked.output is not None
    try:
        made = way(body, source, target)
        settings = cw.parse(made, target).settings
    except Exception:  # a peer may fail in any way: that is the figure
        row["failed"] += 1
        return
    row["tools"] += tools_in(made)
    row["effort"] += effort_of(asked) is not None and effort_of(settings) is not None
    row["output"] += asked.output is not None and settings.output is not None
    problems = cw.check(made, target, model=model_of(target))
    row["errors"] += sum(problem.level == "error" for problem in problems)


def tools_in(body: Body) -> int:
    """The tools of a request in any shape: those in namespaces, items and groups too."""
    lists = [body.get("tools") or []]
    items = body.get("input")
    for item in items if isinstance(items, list) else ():
        if item.get("type") == "additional_tools":
            lists.append(item["tools"])
    found = 0
    for tool in (tool for tools in lists for tool in tools):
        groups = [key for key in GROUPS if key in tool]
        hosted = len(tool) - 1 if groups and groups[0] != "tools" else 0
        found += len(tool[groups[0]]) + hosted if groups else 1
    return found


GROUPS = ("functionDeclarations", "function_declarations", "tools")
"""What holds several tools in one."""


def converted(body: Body, source: str, target: str) -> Body:
    return cw.convert(body, source, target, model=model_of(target)).payload


# --- LiteLLM ---------------------------------------------------------------------------------

PEERS = {
    "anthropic": "anthropic/claude-sonnet-5-5",
    "gemini": "gemini/gemini-3.8-flash",
    "openai-chat": "hosted_vllm/gpt-5.6-sol",
}
"""The models that make LiteLLM speak each API; it translates nothing to Responses."""


class Recorder(BaseHTTPRequestHandler):
    """A provider on this machine that keeps the last body it got, and refuses it.

    What LiteLLM has Gemini cache before a request counts as part of it.
    """

    body: ClassVar[Body | None] = None

    def do_GET(self) -> None:
        self.answer(200, b"{}")

    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["content-length"])))
        cached = Recorder.body or {}
        Recorder.body = {**cached, **given}
        Recorder.body.pop("cachedContent", None)
        if "cachedContents" in self.path:
            self.answer(200, b'{"name": "cachedContents/1", "model": "m"}')
        else:
            error = b'{"error": {"message": "recorded", "type": "invalid_request_error"}}'
            self.answer(400, error)

    def answer(self, status: int, answer: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@cache
def recorder() -> str:
    """The address of the recorder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def by_litellm(body: Body, source: str, target: str) -> Body:
    """The body that LiteLLM sends, with the settings it is best with."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm  # pyright: ignore[reportMissingImports]
    from litellm.google_genai import generate_content  # pyright: ignore[reportMissingImports]

    litellm.drop_params = litellm.modify_params = litellm.suppress_debug_info = True
    path = "/v1" if target == "openai-chat" else ""
    way = {"model": PEERS[target], "api_base": recorder() + path, "api_key": "k", "num_retries": 0}
    if (source, target) == ("openai-responses", "openai-chat"):
        # Of a host that it takes for OpenAI's own it keeps the format.
        way |= {"model": "custom_openai/gpt-5.6-sol", "allowed_openai_params": ["reasoning_effort"]}
    given = {key: body[key] for key in body if key not in ("model", "stream", "stream_options")}
    Recorder.body = None
    try:
        match source:
            case "openai-chat":
                litellm.completion(**way, **given)
            case "openai-responses":
                litellm.responses(**way, **given)
            case "anthropic":
                asyncio.run(litellm.anthropic_messages(**way, **given))
            case _:
                config = given.pop("generationConfig", None)
                generate_content(**way, config=config, **given)
    except Exception:
        if Recorder.body is None:
            raise
    if Recorder.body is None:
        raise ValueError("nothing was sent")
    return Recorder.body


if __name__ == "__main__":
    raise SystemExit(main())
