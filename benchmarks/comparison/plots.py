"""Pictures of a comparison, as SVG: bars, and lines over sizes on scales of tens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log10
from xml.sax.saxutils import escape

__all__ = ["bars", "lines"]

WIDTH, ROW, LABEL, EDGE, TOP = 860, 26, 335, 640, 56
OURS, OTHER, INK, FAINT = "#c4551d", "#7a9bb5", "#222222", "#bbbbbb"
COLOURS = ("#7a9bb5", "#4d7c59", "#8a6fb0", "#b0893c", "#5b6770", "#3c8fa8", "#a65b7a")


def bars(title: str, rows: Sequence[tuple[str, float, str]], ours: str = "contextwright") -> str:
    """A bar for each row: name, value, and the words beside it."""
    most = max((value for _, value, _ in rows), default=1) or 1
    drawn: list[str] = []
    for place, (name, value, words) in enumerate(rows):
        y = TOP + place * ROW
        wide = round((EDGE - LABEL) * value / most, 1)
        colour = OURS if name.startswith(ours) else OTHER
        drawn += [
            f'<text x="{LABEL - 10}" y="{y + 14}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{LABEL}" y="{y + 3}" width="{max(wide, 1)}" height="15" fill="{colour}"/>',
            f'<text x="{LABEL + wide + 6}" y="{y + 15}">{escape(words)}</text>',
        ]
    return picture(title, TOP + len(rows) * ROW + 14, drawn)


def lines(
    title: str, series: Mapping[str, Mapping[int, float]], unit: str, ours: str = "contextwright"
) -> str:
    """A line for each series over sizes; both scales go by tens."""
    sizes = sorted({size for values in series.values() for size in values})
    values = [value for held in series.values() for value in held.values()]
    low, high = 10 ** floor_power(min(values)), 10 ** (floor_power(max(values)) + 1)
    left, right, top, bottom = 95, 560, TOP, 400

    def x_of(size: float) -> float:
        span = log10(sizes[-1] / sizes[0]) or 1
        return round(left + (right - left) * log10(size / sizes[0]) / span, 1)

    def y_of(value: float) -> float:
        return round(bottom - (bottom - top) * log10(value / low) / log10(high / low), 1)

    drawn = [*grid(sizes, (low, high), (left, right, bottom), x_of, y_of, unit)]
    names = sorted(series, key=lambda name: -series[name][max(series[name])])
    heights = apart([y_of(series[name][max(series[name])]) for name in names])
    for place, name in enumerate(names):
        colour = OURS if name == ours else COLOURS[place % len(COLOURS)]
        points = [(x_of(size), y_of(value)) for size, value in sorted(series[name].items())]
        path = " ".join(f"{x},{y}" for x, y in points)
        wide = 3.5 if name == ours else 1.8
        drawn.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{wide}"/>'
        )
        drawn += [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in points]
        x, y = points[-1]
        drawn.append(
            f'<path d="M{x + 5} {y}L{right + 14} {heights[place]}" stroke="{FAINT}" fill="none"/>'
        )
        drawn.append(
            f'<text x="{right + 18}" y="{heights[place] + 4}" fill="{colour}">{escape(name)}</text>'
        )
    return picture(title, bottom + 44, drawn)


def grid(
    sizes: Sequence[int],
    scale: tuple[float, float],
    frame: tuple[int, int, int],
    x_of: Callable[[float], float],
    y_of: Callable[[float], float],
    unit: str,
) -> Iterator[str]:
    """The lines of tens, and what they mean."""
    left, right, bottom = frame
    value = scale[0]
    while value <= scale[1] * 1.01:
        y = y_of(value)
        yield f'<line x1="{left}" x2="{right}" y1="{y}" y2="{y}" stroke="{FAINT}"/>'
        yield f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{value:,g} {unit}</text>'
        value *= 10
    for size in sizes:
        yield f'<text x="{x_of(size)}" y="{bottom + 20}" text-anchor="middle">{size:,}</text>'
    middle = (left + right) / 2
    yield f'<text x="{middle}" y="{bottom + 38}" text-anchor="middle">messages stored</text>'


def floor_power(value: float) -> int:
    """The power of ten that is not more than a value."""
    return int(log10(value) // 1)


def apart(heights: Sequence[float], least: float = 17) -> list[float]:
    """The heights of labels, moved down where they would overlap; the highest comes first."""
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + least) if placed else height)
    return placed


def picture(title: str, height: float, drawn: Sequence[str]) -> str:
    inner = "\n".join(drawn)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" \
width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="13" fill="{INK}">
<rect width="100%" height="100%" fill="white"/>
<text x="20" y="30" font-size="16" font-weight="bold">{escape(title)}</text>
{inner}
</svg>
"""
