"""Fuzz the readers, and keep every input that reaches a line no other has reached.

    uv run -p 3.13 python -m tests.fuzzing                    # a minute for each reader
    uv run -p 3.13 python -m tests.fuzzing --minutes 10 anthropic-body chatgpt-export
    uv run -p 3.13 python -m tests.fuzzing --list

Inputs are damaged samples, and damaged inputs that were kept. What is kept goes to `tests/corpus`,
which the tests read again. An error that is not one of ours, and a reader that takes far longer
than its input is long, is a fault: it is printed with its input, which joins the corpus too. Lines
are counted from Python 3.12 on.
"""

import argparse
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzzing.corpus import kept_inputs, write_inputs
from fuzzing.lines import ReachedLines
from fuzzing.mutations import mutated
from fuzzing.readers import Reader, all_readers, attempt

SECONDS, SECONDS_PER_BYTE = 0.3, 20e-6
"""CPU time that any input may take, and what each of its bytes may add."""
LONGEST_KEPT = 2_000
"""Bytes of the longest input that is kept for what it reaches."""


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("readers", nargs="*", help="names of readers; default: all")
    options.add_argument("--minutes", type=float, default=1.0, help="for each reader")
    options.add_argument("--seed", type=int, default=0, help="another seed, other inputs")
    options.add_argument("--list", action="store_true", help="print the names of the readers")
    chosen = options.parse_args()
    known = all_readers()
    if chosen.list:
        print(*known, sep="\n")
        return 0
    unknown = [name for name in chosen.readers if name not in known]
    if unknown:
        options.error(f"unknown reader: {unknown[0]} (see --list)")
    faults = 0
    for name in chosen.readers or known:
        faults += fuzz(name, known[name], chosen.minutes * 60, Random(f"{name} {chosen.seed}"))
    return 1 if faults else 0


def fuzz(name: str, reader: Reader, seconds: float, random: Random) -> int:
    """Fuzz one reader and return the number of its faults."""
    inputs = [*reader.samples, *kept_inputs(name)]
    faults, count = dict[str, bytes](), 0
    end = time.monotonic() + seconds
    with ReachedLines() as lines:
        for data in inputs:
            attempt(reader, data)
        before = len(lines)
        while time.monotonic() < end:
            data, count = mutated(random.choice(inputs), inputs, random), count + 1
            reached = len(lines)
            fault = fault_of(reader, data)
            if fault and fault not in faults:
                faults[fault] = data
                print(f"{name}: {fault}\n  {data[:500]!r}", flush=True)
            elif len(lines) > reached and len(data) <= LONGEST_KEPT:
                inputs.append(data)
    kept = [*needed(reader, inputs), *faults.values()]
    write_inputs(name, kept)
    print(
        f"{name}: {count:,} inputs, {before:,} → {len(lines):,} lines, "
        f"{len(kept)} kept, {len(faults)} faults",
        flush=True,
    )
    return len(faults)


def needed(reader: Reader, inputs: Sequence[bytes]) -> list[bytes]:
    """Return inputs that reach all lines which the samples do not, the shortest first."""
    kept: list[bytes] = []
    with ReachedLines() as lines:
        for data in reader.samples:
            attempt(reader, data)
        for data in sorted(inputs, key=len):
            reached = len(lines)
            attempt(reader, data)
            if len(lines) > reached:
                kept.append(data)
    return kept


def fault_of(reader: Reader, data: bytes) -> str:
    """Return what is wrong with how a reader takes data; empty if nothing is."""
    began = time.process_time()
    try:
        attempt(reader, data)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {error}"[
            :200
        ]
    taken = time.process_time() - began
    if taken <= SECONDS + len(data) * SECONDS_PER_BYTE:
        return ""
    return f"{taken:.1f} s for {len(data):,} bytes"


if __name__ == "__main__":
    sys.exit(main())
