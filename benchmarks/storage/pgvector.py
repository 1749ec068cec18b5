"""Nearest vectors in PostgreSQL: pgvector beside the codes that a store keeps in memory.

    uv run python -m benchmarks.storage.pgvector postgresql://… [--messages 100000] [--questions 20]

The server needs the extension; a table `said` is made and dropped. Each way finds the 800 nearest
of all messages (wordllama's vectors) to a question; `found` is how many of the true ones are among
them. Clock milliseconds, the median, and for the index the seconds of its making.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy
import psycopg

from contextwright.recall.vectors.query import CentredQuery
from contextwright.recall.vectors.rows import QuantisedRows
from contextwright.recall.vectors.wordllama import wordllama

from ..retrieval.recalling import talk

NEAREST = 800
WAYS = {
    "vector, no index": "",
    "halfvec, HNSW": "CREATE INDEX ON said USING hnsw ((v::halfvec({width})) halfvec_ip_ops)",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("place", help="postgresql://…")
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=20)
    options = parser.parse_args()
    texts = [message.text for message in talk(options.messages + options.questions)]
    vectors = wordllama()(texts)
    rows, asked = vectors[: options.messages], vectors[options.messages :]
    true = [{*numpy.argsort(-(rows @ one))[:NEAREST].tolist()} for one in asked]
    codes = QuantisedRows(rows.shape[1])
    codes.append(rows)

    def by_codes(one: Any) -> Iterable[int]:
        places, cosines = codes.nearest(CentredQuery(one), 0, len(rows), NEAREST)
        return places[numpy.argsort(-cosines)[:NEAREST]].tolist()

    print(f"{options.messages} messages")
    show("codes, in memory", by_codes, asked, true)
    with psycopg.connect(options.place, autocommit=True) as database:
        in_postgres(database, rows, asked, true)
        database.execute("DROP TABLE said")
    return 0


def in_postgres(database: Any, rows: Any, asked: Any, true: list[set[int]]) -> None:
    """Show each way of pgvector."""
    width = rows.shape[1]
    database.execute("CREATE EXTENSION IF NOT EXISTS vector")
    database.execute("SET maintenance_work_mem = '512MB'")
    # Its workers would share memory, of which a container may have little.
    database.execute("SET max_parallel_maintenance_workers = 0")
    database.execute("SET hnsw.ef_search = 1000")
    database.execute(f"CREATE TABLE said (id int PRIMARY KEY, v vector({width}))")
    start = time.perf_counter()
    with database.cursor().copy("COPY said FROM STDIN") as copy:
        for place, row in enumerate(rows):
            copy.write_row((place, spelled(row)))
    print(f"copied in {time.perf_counter() - start:.0f} s", flush=True)
    for name, index in WAYS.items():
        start = time.perf_counter()
        if index:
            database.execute(index.format(width=width))
            database.execute("VACUUM ANALYZE said")
        made = time.perf_counter() - start
        kind = "halfvec" if index else "vector"
        # Both forms of the column may use an index only where the question has the same one.
        query = f"SELECT id FROM said ORDER BY v::{kind}({width}) <#> %s::{kind} LIMIT {NEAREST}"

        def near(one: Any, query: str = query) -> Iterable[int]:
            return [id for (id,) in database.execute(query, (spelled(one),))]

        show(f"pgvector, {name}", near, asked, true, made)


def spelled(vector: Any) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(f"{number:.6g}" for number in vector.tolist()) + "]"


def show(
    name: str,
    near: Callable[[Any], Iterable[int]],
    asked: Any,
    true: list[set[int]],
    made: float = 0.0,
) -> None:
    """Print the time and the share of what is found."""
    near(asked[0])
    times, shares = list[float](), list[float]()
    for one, nearest in zip(asked, true, strict=True):
        start = time.perf_counter()
        found = {*near(one)}
        times.append(time.perf_counter() - start)
        shares.append(len(found & nearest) / NEAREST)
    median, found = statistics.median(times) * 1e3, statistics.mean(shares)
    print(f"{name:28} {median:8.1f} ms, {found:.1%} found, made in {made:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
