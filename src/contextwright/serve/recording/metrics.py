"""Counters of a gateway's requests since its start, in Prometheus' text format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct, field

from contextwright.store.requests import RecordedRequest

__all__ = ["Metrics"]

TOKENS = ("input", "cached", "written", "output", "reasoning")


class Metrics(Struct):
    """Counters of recorded requests, by upstream; a model's name is any text, and no label."""

    requests: Counter[tuple[str, ...]] = field(default_factory=Counter[tuple[str, ...]])
    tokens: Counter[tuple[str, ...]] = field(default_factory=Counter[tuple[str, ...]])
    dollars: dict[str, float] = {}
    seconds: dict[str, float] = {}
    unrecorded: int = 0
    """Requests that passed without a record: the store was too slow, or failed."""

    def add(self, record: RecordedRequest) -> None:
        """Count a request that is over."""
        name = record.upstream
        self.requests[name, record.format, record.mode, record.error or record.state] += 1
        self.dollars[name] = self.dollars.get(name, 0.0) + (record.price or 0.0)
        self.seconds[name] = self.seconds.get(name, 0.0) + (record.seconds or 0.0)
        for kind in TOKENS if record.usage is not None else ():
            self.tokens[name, kind] += getattr(record.usage, kind)

    def text(self, waiting_bytes: int) -> str:
        """Return all counters, a line each."""
        return "".join(f"{line}\n" for line in self.lines(waiting_bytes))

    def lines(self, waiting_bytes: int) -> Iterator[str]:
        """Yield the lines of the text format."""
        yield from head("requests_total", "counter", "Requests that were recorded.")
        for labels, count in sorted(self.requests.items()):
            yield line("requests_total", ("upstream", "api", "mode", "state"), labels, count)
        yield from head("tokens_total", "counter", "Tokens by the providers' own count.")
        for labels, count in sorted(self.tokens.items()):
            yield line("tokens_total", ("upstream", "kind"), labels, count)
        yield from head("dollars_total", "counter", "Prices of requests whose price is known.")
        for name, sum in sorted(self.dollars.items()):
            yield line("dollars_total", ("upstream",), (name,), sum)
        yield from head("seconds_total", "counter", "Time from requests to the end of answers.")
        for name, sum in sorted(self.seconds.items()):
            yield line("seconds_total", ("upstream",), (name,), sum)
        yield from head("unrecorded_total", "counter", "Requests that passed without a record.")
        yield line("unrecorded_total", (), (), self.unrecorded)
        yield from head("waiting_bytes", "gauge", "Bytes of requests that are not written yet.")
        yield line("waiting_bytes", (), (), waiting_bytes)


def head(name: str, kind: str, help: str) -> Iterator[str]:
    """Yield the lines before those of a counter."""
    yield f"# HELP contextwright_{name} {help}"
    yield f"# TYPE contextwright_{name} {kind}"


def line(name: str, labels: tuple[str, ...], values: tuple[str, ...], number: float) -> str:
    """Return one counter."""
    pairs = [f'{label}="{escaped(value)}"' for label, value in zip(labels, values, strict=True)]
    braced = f"{{{','.join(pairs)}}}" if pairs else ""
    return f"contextwright_{name}{braced} {number}"


def escaped(value: str) -> str:
    """Return the value of a label, which cannot end before its end."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
