"""How far our token counts are from the providers' own, on recorded requests.

    uv run python benchmarks/counting.py --data FOLDER

FOLDER holds `requests.jsonl` (or `wire/requests.jsonl`): one JSON object a line with `api`,
`provider` (the host), `model`, `status`, `request` and `input_tokens`. Nothing is sent anywhere.

Rows with parts that only the provider can see (stored turns, files by id, its own tools and what
they fetch) are shown apart: no count from outside can be right there.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from contextwright.models import find
from contextwright.tokens import Count, count_pieces
from contextwright.wire.pieces import Piece, pieces

FORMATS = {
    "openai.chat": "openai-chat",
    "openai.responses": "openai-responses",
    "anthropic.messages": "anthropic",
    "anthropic.count_tokens": "anthropic",
    "gemini.generateContent": "gemini",
    "gemini.countTokens": "gemini",
}
OWN_HOSTS = {
    "api.openai.com",
    "api.anthropic.com",
    "generativelanguage.googleapis.com",
    "aiplatform.googleapis.com",
}
HIDDEN = {"unseen", "hosted", "deferred", "opaque"}
MEDIA = {"image", "document", "audio", "video"}


class Row(Struct):
    provider: str
    format: str
    content: str
    script: str
    count: Count
    actual: int

    @property
    def error(self) -> float:
        return (self.count.tokens - self.actual) / self.actual

    @property
    def under(self) -> bool:
        return self.actual > self.count.most

    @property
    def over(self) -> bool:
        return self.actual < self.count.tokens * (1 - self.count.bound) - 1


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    options.add_argument("--worst", type=int, default=0, help="list the worst N rows of each group")
    given = options.parse_args()
    path = recordings(given.data)
    if path is None:
        print(f"no requests.jsonl in {given.data}: pass the folder of recordings", file=sys.stderr)
        return 2
    rows = list(counted(path))
    table("provider and content", rows, lambda row: (row.provider, row.format, row.content))
    seen = [row for row in rows if row.content in ("plain", "tools")]
    table("plain and tools, by script", seen, lambda row: (row.provider, row.script))
    halves = (replace(row, script=f"half {i % 2 + 1}") for i, row in enumerate(seen))
    table("plain and tools, two halves", halves, lambda row: (row.provider, row.script))
    if given.worst:
        worst(rows, given.worst)
    return 0


def recordings(folder: Path) -> Path | None:
    places = (folder / "requests.jsonl", folder / "wire" / "requests.jsonl", folder)
    return next((place for place in places if place.is_file()), None)


def counted(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            usable = record["status"] == 200 and record.get("input_tokens")
            if usable and record["api"] in FORMATS:
                yield row_of(record)


def row_of(record: dict[str, Any]) -> Row:
    format = FORMATS[record["api"]]
    model = find(record["model"])
    found = pieces(record["request"], format)
    count = count_pieces(found, model, format=format)
    provider = model.provider if record["provider"] in OWN_HOSTS else "elsewhere"
    return Row(provider, format, content_of(found), script_of(found), count, record["input_tokens"])


def content_of(found: Iterable[Piece]) -> str:
    kinds = {piece.kind for piece in found}
    if kinds & HIDDEN:
        return "partly unseen"
    if kinds & MEDIA:
        return "media"
    if kinds & {"sealed", "thinking"}:
        return "reasoning"
    if "schema" in kinds:
        return "schema"
    return "tools" if kinds & {"tool", "call"} else "plain"


def script_of(found: Iterable[Piece]) -> str:
    letters: dict[str, int] = defaultdict(int)
    for piece in found:
        if piece.kind == "text":
            for char in piece.value[:4000]:
                if char.isalpha():
                    letters["LATIN" if char.isascii() else unicodedata.name(char, "?")[:5]] += 1
    common = max(letters, key=lambda name: letters[name], default="none")
    return {"LATIN": "Latin", "CYRIL": "Cyrillic", "CJK U": "CJK"}.get(common, common.title())


def table(title: str, rows: Iterable[Row], key: Any) -> None:
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    print(f"\n{title}")
    head = ("rows", "exact", "median", "bias", "p90", "bound", "under", "over")
    print(f"{'':44}" + "".join(f"{name:>8}" for name in head))
    for name, group in sorted(groups.items()):
        errors = sorted(abs(row.error) for row in group)
        cells = (
            f"{len(group)}",
            f"{sum(row.count.tokens == row.actual for row in group)}",
            f"{statistics.median(errors):.1%}",
            f"{statistics.median(row.error for row in group):+.1%}",
            f"{errors[int(0.9 * (len(errors) - 1))]:.1%}",
            f"{statistics.median(row.count.bound for row in group):.1%}",
            f"{sum(row.under for row in group)}",
            f"{sum(row.over for row in group)}",
        )
        print(f"{'  '.join(name):44}" + "".join(f"{cell:>8}" for cell in cells))


def worst(rows: Iterable[Row], number: int) -> None:
    groups: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.provider, row.format, row.content].append(row)
    for name, group in sorted(groups.items()):
        print("\n" + "  ".join(name))
        for row in sorted(group, key=lambda row: -abs(row.error))[:number]:
            print(f"  {row.actual:>7} actual, {row.count}")


if __name__ == "__main__":
    raise SystemExit(main())
