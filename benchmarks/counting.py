"""How far our token counts are from the providers' own, on recorded requests.

    uv run python benchmarks/counting.py --data FOLDER

FOLDER holds `requests.jsonl` (or `wire/requests.jsonl`): one JSON object a line with `api`,
`provider` (the host), `model`, `status`, `request` and `input_tokens`. Nothing is sent anywhere.

What a request contains is read off its body, never off the result: "plain" is text alone, "tools"
has function tools, calls and results beside it. Rows with parts that only the provider can see
(stored turns, files by id, its own tools and what they fetch) are shown apart: no count from
outside can be right there. So are those that no client sent: the suites' clients always say whether
to stream, and recordings without that field were written by hand, their usage too.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from contextwright.models import find
from contextwright.tokens.count import Count, count_pieces
from contextwright.tokens.pieces import Piece, pieces
from counts.fitting import Sample, beyond_tightest, cross_validated, sample_of

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
TOOLS = {"tools", "call"}
REASONING = {"sealed", "thinking", "compaction", "past_sealed", "past_thinking"}
OPENAI = ("openai-chat", "openai-responses")
VISIBLE = ("plain", "tools", "schema")


class Row(Struct):
    provider: str
    format: str
    content: str
    script: str
    count: Count
    actual: int
    sample: Sample

    @property
    def right(self) -> bool:
        return self.count.tokens == self.actual

    @property
    def error(self) -> float:
        return (self.count.tokens - self.actual) / self.actual

    @property
    def under(self) -> bool:
        return self.actual > self.count.most and not self.count.at_least

    @property
    def over(self) -> bool:
        return self.actual < self.count.least

    @property
    def use(self) -> float:
        """The share of the bound that was needed, on the side where the true number lies."""
        count = self.count
        if self.actual > count.tokens:
            missed = 0 if count.at_least else self.actual - count.tokens
            return missed / max(count.most - count.tokens, 0.5)
        return (count.tokens - self.actual) / max(count.tokens - count.least, 0.5)


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
    claims(seen)
    bounds([row for row in rows if row.provider != "elsewhere" and "by hand" not in row.content])
    validation([row.sample for row in rows if row.content in VISIBLE])
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
    format, body, actual = FORMATS[record["api"]], record["request"], record["input_tokens"]
    model = find(record["model"])
    found = pieces(body, format)
    count = count_pieces(found, model, format=format)
    provider = model.provider if record["provider"] in OWN_HOSTS else "elsewhere"
    by_hand = format in OPENAI and "stream" not in body
    content = content_of(found) + (" by hand" if by_hand else "")
    sample = sample_of(found, model, format=format, count=count, actual=actual)
    return Row(provider, format, content, script_of(found), count, actual, sample)


def content_of(found: Iterable[Piece]) -> str:
    kinds = {piece.kind for piece in found}
    if kinds & HIDDEN:
        return "partly unseen"
    if kinds & MEDIA:
        return "media"
    if kinds & REASONING:
        return "reasoning"
    if kinds & {"unpriced", "edits"}:
        return "other fields"
    if "added_tools" in kinds:
        return "added tools"
    if "schema" in kinds:
        return "schema"
    return "tools" if kinds & TOOLS else "plain"


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
            f"{sum(row.right for row in group)}",
            f"{statistics.median(errors):.1%}",
            f"{statistics.median(row.error for row in group):+.1%}",
            f"{errors[int(0.9 * (len(errors) - 1))]:.1%}",
            f"{statistics.median(row.count.bound for row in group):.1%}",
            f"{sum(row.under for row in group)}",
            f"{sum(row.over for row in group)}",
        )
        print(f"{'  '.join(name):44}" + "".join(f"{cell:>8}" for cell in cells))


def claims(rows: Iterable[Row]) -> None:
    """How often a count that is called exact is right, and how many are right in all."""
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.provider,].append(row)
        groups[row.provider, row.format].append(row)
    print("\nplain and tools together")
    head = ("rows", "right", "", "claimed", "right", "wrong")
    print(f"{'':44}" + "".join(f"{name:>8}" for name in head))
    for name, group in sorted(groups.items()):
        right, claimed = (
            [row for row in group if row.right],
            [row for row in group if row.count.exact],
        )
        kept = sum(row.right for row in claimed)
        cells = (len(group), len(right), f"{len(right) / len(group):.0%}")
        cells += (len(claimed), kept, len(claimed) - kept)
        print(f"{'  '.join(name):44}" + "".join(f"{cell:>8}" for cell in cells))


def bounds(rows: Sequence[Row]) -> None:
    """How often the true number lies beyond the bound, and how much of it was needed."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        said = "at least" if row.count.at_least else "exact" if row.count.exact else "±"
        groups[row.provider, said].append(row)
    print(
        "\nthe bounds, on the providers' own hosts: beyond them, and if drawn as tight as possible"
    )
    head = ("rows", "under", "over", "beyond", "p90 use", "p99 use", "tightest")
    print(f"{'':44}" + "".join(f"{name:>9}" for name in head))
    for name, group in sorted(groups.items()):
        uses = [row.use for row in group]
        ranked = sorted(uses)
        under, over = sum(row.under for row in group), sum(row.over for row in group)
        cells = (len(group), under, over, f"{(under + over) / len(group):.1%}")
        cells += tuple(f"{ranked[int(part * (len(ranked) - 1))]:.0%}" for part in (0.9, 0.99))
        cells += (f"{beyond_tightest(uses) / len(group):.1%}",)
        print(f"{'  '.join(name):44}" + "".join(f"{cell:>9}" for cell in cells))


def validation(samples: Iterable[Sample]) -> None:
    """The error of the constants as shipped, fitted to all rows, and on rows not fitted to."""
    print(
        "\nthe constants: as shipped, fitted anew to all rows, and on rows they were not fitted to"
    )
    head = ("rows", "consts", "shipped", "p90", "fitted", "p90", "others", "p90")
    print(f"{'':44}" + "".join(f"{name:>8}" for name in head))
    for fit in cross_validated(samples):
        cells = [f"{len(fit.shipped)}", f"{fit.constants}"]
        for errors in map(sorted, (fit.shipped, fit.fitted, fit.unseen)):
            cells += [
                f"{statistics.median(errors):.1%}",
                f"{errors[int(0.9 * (len(errors) - 1))]:.1%}",
            ]
        print(f"{fit.group:44}" + "".join(f"{cell:>8}" for cell in cells))


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
