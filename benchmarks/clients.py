"""What of real clients' requests arrives at the other three APIs.

    uv run python benchmarks/clients.py --data FOLDER
    uv run --with litellm python benchmarks/clients.py --data FOLDER --peers

FOLDER holds recorded requests, `NAME.FORMAT.N.json` with `{"body": …}`. For each format the table
says how many tools arrive of those sent, whether effort and structured output are carried, and how
many errors our own `check` finds in what we made. Nothing is sent anywhere.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import contextwright as cw
from contextwright import formats
from contextwright.formats.settings import effort_of

FORMATS = ("openai-chat", "openai-responses", "anthropic", "gemini")
HEAD = ("from", "to", "by", "requests", "tools", "effort", "output", "errors", "failed")
LINE = "{:18}{:18}{:15}{:>9}{:>12}{:>9}{:>9}{:>8}{:>8}"


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--data", type=Path, required=True, help="folder of recorded requests")
    options.add_argument("--peers", action="store_true", help="LiteLLM, where installed")
    given = options.parse_args()
    rows: dict[tuple[str, str, str], Counter[str]] = {}
    for source, body in requests(given.data):
        for target in FORMATS:
            if target != source:
                row = rows.setdefault((source, target, "contextwright"), Counter())
                measure(body, source, target, row)
                if given.peers and (source, target) == ("openai-responses", "openai-chat"):
                    peer(body, rows.setdefault((source, target, "litellm"), Counter()))
    print(
        LINE.format("from", "to", "by", "requests", "tools", "effort", "output", "errors", "failed")
    )
    for (source, target, by), row in sorted(rows.items()):
        tools, effort, output = (
            f"{row[arrived]}/{row[given]}"
            for arrived, given in (("tools", "sent"), ("effort", "asked"), ("output", "wanted"))
        )
        counts = (row["requests"], tools, effort, output, row["errors"], row["failed"])
        print(LINE.format(source, target, by, *counts))
    return 0


def requests(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The recorded bodies with their formats; requests that only count are left out."""
    for path in sorted(folder.glob("*.json")):
        format = path.name.split(".")[-3].removesuffix("-ws")
        body = json.loads(path.read_text("utf-8")).get("body")
        if format in FORMATS and isinstance(body, dict) and (body.get("input") != []):
            yield format, body


def measure(body: dict[str, Any], source: str, target: str, row: Counter[str]) -> None:
    """One conversion, counted."""
    row["requests"] += 1
    given = cw.parse(body, source)
    model = formats.find(target).default_model or ""
    rendered = cw.convert(body, source, target, model=model)
    made = cw.parse(rendered.payload, target)
    row["sent"] += len(given.tools)
    row["tools"] += len(made.tools)
    effort = effort_of(given.settings)
    row["asked"] += effort is not None
    row["effort"] += effort is not None and effort_of(made.settings) is not None
    row["wanted"] += given.settings.output is not None
    row["output"] += given.settings.output is not None and made.settings.output is not None
    problems = cw.check(rendered.payload, target, model=model)
    row["errors"] += sum(problem.level == "error" for problem in problems)


def peer(body: dict[str, Any], row: Counter[str]) -> None:
    """The same by LiteLLM, which translates Responses to Chat Completions."""
    from litellm.responses.litellm_completion_transformation.transformation import (
        LiteLLMCompletionResponsesConfig as Config,
    )

    row["requests"] += 1
    row["sent"] += len(cw.parse(body, "openai-responses").tools)
    try:
        made = Config.transform_responses_api_request_to_chat_completion_request(
            model=body["model"],
            input=body["input"],
            responses_api_request={key: body[key] for key in body if key not in ("model", "input")},
        )
    except Exception:  # a peer may fail in any way: that is the figure
        row["failed"] += 1
        return
    row["tools"] += len(made.get("tools") or ())
    row["asked"] += "reasoning" in body
    row["effort"] += "reasoning" in body and "reasoning_effort" in made


if __name__ == "__main__":
    raise SystemExit(main())
