"""docs/comparison.md and its pictures, from the figures of `versus.py` and the text in page.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from comparison.plots import bars, lines

__all__ = ["write_page"]

TEXT = Path(__file__).with_name("page.md")
DOCS = Path(__file__).parents[2] / "docs"
SIZES = ("100", "1000", "10000", "100000")
FORMATS = ("openai-chat", "anthropic", "gemini")
BASELINES = ("by hand", "floor")
UNMEASURED = "Not measured: it needs `--data FOLDER`."
Results = Mapping[str, Mapping[str, Any]]


def write_page(results: Results) -> None:
    """Write the page and its pictures."""
    here = {name: found for name, found in results.items() if "missing" not in found}
    used = [name for name in here if name not in BASELINES]
    absent = [
        f"- {name}: {found['missing']}" for name, found in results.items() if name not in here
    ]
    text = TEXT.read_text("utf-8").format(
        versions=", ".join(f"{name} {here[name]['version']}" for name in used),
        python=here["contextwright"]["python"],
        day=here["contextwright"]["day"],
        validity=validity(here),
        turns=turns(here),
        caching=caching(here),
        conversions=conversions(here),
        counting=counting(here),
        recall=recall(here),
        rendering=rendering(here),
        trimming=trimming(here),
        better="\n".join(f"- {line}" for line in better(here)),
        missing="\n".join(["\n## Missing\n", *absent, ""]) if absent else "",
    )
    (DOCS / "comparison.md").write_text(text, "utf-8")


# --- tables ----------------------------------------------------------------------------------


def validity(results: Results) -> str:
    rows: list[tuple[str, ...]] = []
    drawn: list[tuple[str, float, str]] = []
    for name, way, found in ways(results, "validity"):
        takes = "tokens" if way["budget"] else "messages"
        counts = [str(found[key]) for key in ("invalid", "judge", "over", "question", "raises")]
        rows.append((name, takes, *counts, f"{found['fill']:.0%}"))
        beside = f"{found['invalid']} refused, {found['over']} over budget"
        drawn.append((name, found["invalid"] + found["over"], beside))
    save("comparison-validity", bars("200 tool histories, cut to a budget: what is wrong", drawn))
    judges = ("refused by `check`", "by a simple judge")
    head = ("", "bound", *judges, "over budget", "question lost", "nothing sent", "fill")
    return table(head, rows)


def turns(results: Results) -> str:
    series: dict[str, dict[int, float]] = {}
    rows: list[tuple[str, ...]] = []
    for name, _, found in ways(results, "turns"):
        figures = {int(size): value[0] for size, value in found.items() if is_figure(value)}
        if figures:
            series[name.partition(",")[0]] = figures
        rows.append((name, *(shown(found.get(size)) for size in SIZES)))
    save("comparison-turns", lines("One turn from a store, CPU time", series, "ms"))
    return table(("", *(f"{int(size):,}" for size in SIZES)), rows)


def caching(results: Results) -> str:
    rows: list[tuple[str, ...]] = []
    drawn: list[tuple[str, float, str]] = []
    for name, _, found in ways(results, "caching"):
        if not found:
            return UNMEASURED
        share = found["shared"] / (found["sent"] or 1)
        mean = found["sent"] / max(found["requests"] - found["failed"], 1)
        price = f"${found['dollars']:.2f}"
        cells = (f"{found['requests']}", f"{found['failed']}", f"{mean:,.0f}", f"{share:.1%}")
        rows.append((name, *cells, price))
        drawn.append((name, found["dollars"], f"{price}, {share:.0%} in the prefix"))
    save("comparison-cache", bars("Input price of recorded agent runs", drawn))
    return table(("", "requests", "failed", "tokens a request", "in the prefix", "input"), rows)


def conversions(results: Results) -> str:
    held = {name: found["conversions"] for name, found in results.items() if found["conversions"]}
    columns = [(name, target) for name, found in held.items() for target in found]
    cases = list(held["contextwright"]["anthropic"])
    rows = [
        (case, *(held[name][target][case] or "✓" for name, target in columns)) for case in cases
    ]
    right = (
        f"**{sum(not why for why in held[name][target].values())} of {len(cases)}**"
        for name, target in columns
    )
    head = ("", *(f"{name} → {target}" for name, target in columns))
    return table(head, [*rows, ("**right**", *right)])


def counting(results: Results) -> str:
    rows = [
        (
            name,
            provider,
            f"{found['rows']:.0f}",
            f"{found['median']:.1%}",
            f"{found['p90']:.1%}",
            f"{found['low']:.0%}",
        )
        for name, held in results.items()
        for provider, found in (held.get("counting") or {}).items()
    ]
    head = ("", "provider", "requests", "median error", "nine of ten below", "more than 5 % low")
    return table(head, rows) if rows else UNMEASURED


def recall(results: Results) -> str:
    budgets = ("1000", "2000", "4000")
    rows = [
        (
            f"{name}, {way}",
            *(f"{found['share'][budget]:.1%}" for budget in budgets),
            number(found["learn"]),
            number(found["ask"]),
        )
        for name, held in results.items()
        for way, found in (held.get("recall") or {}).items()
    ]
    head = ("", *(f"{int(budget):,} tokens" for budget in budgets), "ms a message", "ms a question")
    return table(head, rows) if rows else UNMEASURED


def rendering(results: Results) -> str:
    rows = [
        (name, *(shown(found["rendering"].get(format)) for format in FORMATS))
        for name, found in results.items()
        if found["rendering"]
    ]
    return table(("", "OpenAI chat", "Anthropic", "Gemini"), rows)


def trimming(results: Results) -> str:
    rows = [
        (name, *(shown(found.get(size)) for size in SIZES[:3]))
        for name, _, found in ways(results, "trimming")
    ]
    return table(("", *(f"{int(size):,}" for size in SIZES[:3])), rows)


# --- where others are better -----------------------------------------------------------------


def better(results: Results) -> Iterator[str]:
    """The libraries that are faster or fuller than ours, from the same figures."""
    ours = results["contextwright"]
    others = {name: found for name, found in results.items() if found is not ours}
    for format in FORMATS:
        figures = [(name, found["rendering"].get(format)) for name, found in others.items()]
        yield from faster(f"Rendering {format}", ours["rendering"][format], figures)
    for what, job in (("A request from memory", "trimming"), ("A turn from a store", "turns")):
        for size in SIZES[:3] if job == "trimming" else SIZES:
            figures = [(name, found.get(size)) for name, _, found in ways(others, job)]
            mine = ours["ways"]["default"][job].get(size)
            yield from faster(f"{what}, {int(size):,} messages", mine, figures)
    mine = ours["ways"]["default"]["validity"]["fill"]
    fuller = [
        f"{name} ({found['fill']:.0%})"
        for name, way, found in ways(others, "validity")
        if way["budget"] and mine < found["fill"] <= 1  # more than all of it is no virtue
    ]
    yield from recalling_more(results)
    if fuller:
        yield f"Filling the budget (our default: {mine:.0%}): {', '.join(fuller)}."


def recalling_more(results: Results) -> Iterator[str]:
    held = {name: found.get("recall") or {} for name, found in results.items()}
    own = held.pop("contextwright")
    if not own:
        return
    for budget, share in own["recall"]["share"].items():
        ahead = [
            f"{name}, {way} ({found['share'][budget]:.1%})"
            for name, ways in held.items()
            for way, found in ways.items()
            if found["share"][budget] > share
        ]
        if ahead:
            yield f"Recall, {int(budget):,} tokens (ours: {share:.1%}): {', '.join(ahead)}."
    asked = [
        (f"{name}, {way}", [found["ask"]])
        for name, ways in held.items()
        for way, found in ways.items()
    ]
    yield from faster("A question to recall", [own["recall"]["ask"]], asked)


def faster(what: str, ours: Any, figures: Sequence[tuple[str, Any]]) -> Iterator[str]:
    if not is_figure(ours):
        return
    ahead = [
        f"{name} ({number(figure[0])})"
        for name, figure in figures
        if is_figure(figure) and figure[0] < ours[0] and name not in BASELINES
    ]
    if ahead:
        yield f"{what} (ours: {number(ours[0])} ms): {', '.join(ahead)}."


# --- pieces ----------------------------------------------------------------------------------


def ways(results: Results, job: str) -> Iterator[tuple[str, Mapping[str, Any], Any]]:
    """Name, way and figures of every way that has this job."""
    for library, found in results.items():
        for name, way in found["ways"].items():
            if job in way:
                yield f"{library}, {name}", way, way[job]


def is_figure(value: Any) -> bool:
    return isinstance(value, list)


def shown(value: Any) -> str:
    """A figure with its quartiles; words as they are."""
    if not is_figure(value):
        return value or ""
    middle, low, high = value
    return f"{number(middle)} ({number(low)}–{number(high)})"


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 20 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    every = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in every)


def save(name: str, drawn: str) -> None:
    (DOCS / "pictures" / f"{name}.svg").write_text(drawn, "utf-8")
