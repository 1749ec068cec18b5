"""A plot of what windows cost against the messages they keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextwright.cli.requests.plot import CACHED, FAINT, INK, UNCACHED, words
from contextwright.context.explain import money
from contextwright.context.simulation.tuning import Trial
from contextwright.models import Model

__all__ = ["frontier_plot"]

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 960, 520, 90, 740, 60, 460


def frontier_plot(
    trials: Sequence[Trial], best_ones: Sequence[Trial], best: Trial, *, model: Model
) -> str:
    """Return the plot as SVG: a point per window, a line through those that no other beats."""
    dearest = max(one.cost for one in trials) or 1.0
    line = " ".join(
        f"{x_of(one)},{y_of(one, dearest)}" for one in sorted(best_ones, key=lambda one: one.kept)
    )
    points = "\n".join(
        part for one in trials for part in point(one, dearest, one in best_ones, one is best)
    )
    axes = "\n".join(axis(dearest, priced=best.row.dollars is not None))
    title = f"Price of the input against messages kept, {model.id}"
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" \
width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12" fill="{INK}">
<rect width="100%" height="100%" fill="white"/>
<text x="{LEFT}" y="28" font-size="15" font-weight="bold">{words(title)}</text>
{axes}
<polyline points="{line}" fill="none" stroke="{CACHED}" stroke-width="2"/>
{points}
</svg>
"""


def axis(dearest: float, *, priced: bool) -> Iterator[str]:
    """Yield the lines and figures of both axes."""
    for share in (0, 0.25, 0.5, 0.75, 1):
        x, y = LEFT + (RIGHT - LEFT) * share, BOTTOM - (BOTTOM - TOP) * share
        cost = money(dearest * share, dearest) if priced else f"{dearest * share:,.0f}"
        yield f'<line x1="{LEFT}" x2="{RIGHT}" y1="{y}" y2="{y}" stroke="{FAINT}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{words(cost)}</text>'
        yield f'<text x="{x}" y="{BOTTOM + 18}" text-anchor="middle">{share:.0%}</text>'
    unit = "dollars" if priced else "tokens not in the cache"
    yield f'<text x="{LEFT}" y="{TOP - 12}">{unit}</text>'
    yield f'<text x="{RIGHT}" y="{BOTTOM + 36}" text-anchor="end">messages kept whole</text>'


def point(one: Trial, dearest: float, is_best: bool, recommended: bool) -> Iterator[str]:
    """Yield the mark and the name of a window."""
    x, y = x_of(one), y_of(one, dearest)
    colour, radius, weight = CACHED if is_best else FAINT, 4, ""
    if recommended:
        colour, radius, weight = UNCACHED, 7, ' font-weight="bold"'
    yield f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{colour}"/>'
    yield f'<text x="{x + 10}" y="{y + 4}"{weight}>{words(one.candidate.name)}</text>'


def x_of(one: Trial) -> float:
    """Return the x coordinate of a share of messages."""
    return round(LEFT + (RIGHT - LEFT) * one.kept, 1)


def y_of(one: Trial, dearest: float) -> float:
    """Return the y coordinate of a price."""
    return round(BOTTOM - (BOTTOM - TOP) * one.cost / dearest, 1)
