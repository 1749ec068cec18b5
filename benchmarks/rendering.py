"""How long rendering and checking take, beside hand-written loops and other libraries.

    uv run python benchmarks/rendering.py
    uv run --with litellm … python benchmarks/rendering.py --peers

CPU time, the best of several rounds in which all contenders take turns, so that a busy machine
slows them alike: compare rows with each other, not with other machines. See README.md beside this
file for what the figures mean and for the full command with all peers. Nothing is sent anywhere.
"""

from __future__ import annotations

import argparse
import gc
import logging
import math
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import process_time
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

import workload
from contenders import naive
from contextwright import Author, Conversation, check, formats, render

FORMATS = ("openai-chat", "openai-responses", "anthropic", "gemini")
SAMPLE = 0.005
"""Seconds of CPU a sample should take; shorter runs are repeated within it. Many short samples
find a quiet moment of a busy machine sooner than a few long ones."""
SLOWEST = 10.0
"""A contender that would take more seconds than this for ten times the size is not asked to."""
HEAVY = (
    "asyncio click concurrent.futures email http importlib.metadata importlib.resources logging "
    "multiprocessing pathlib regex rich splintr ssl subprocess tempfile tomllib "
    "unicodedata urllib.parse urllib.request xml"
).split()
"""Modules that an import of the core must not load."""

Run = Callable[[], object]


class Timing(Struct):
    """One contender: its best CPU milliseconds by size, and why there are none."""

    name: str
    best: dict[int, float] = {}
    note: str = ""


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--peers", action="store_true", help="other libraries, where installed")
    options.add_argument("--sizes", default="100,1000,10000,100000", type=numbers)
    options.add_argument("--formats", default=FORMATS, type=lambda given: given.split(","))
    options.add_argument("--gc", action="store_true", help="leave the garbage collector on")
    given = options.parse_args()
    logging.disable()
    warnings.simplefilter("ignore")
    conversations = {size: workload.clean(size) for size in given.sizes}
    collecting = bool(given.gc)
    alone = {size: replace(held, tools=()) for size, held in conversations.items()}
    show_rendering(alone, given.formats, peers=given.peers, collecting=collecting)
    show_variants(alone, given.formats, collecting=collecting)
    show_checking(conversations, given.formats, collecting=collecting)
    show_repairs(given.sizes, given.formats, collecting=collecting)
    show_import()
    return 0


def numbers(given: str) -> list[int]:
    """Sizes from `100,1000`."""
    return sorted({int(size) for size in given.split(",")})


# --- rendering -------------------------------------------------------------------------------


def show_rendering(
    conversations: dict[int, Conversation],
    names: Sequence[str],
    *,
    peers: bool,
    collecting: bool,
) -> None:
    """One block a format: CPU milliseconds by size, how often ours fits in, growth."""
    sizes = list(conversations)
    print("\nRendering a clean history to JSON bytes, all rules on (CPU ms)")
    for format in names:
        require_same_payload(format)
        timings = rendering(conversations, format, peers=peers, collecting=collecting)
        ours = timings[0].best
        print(f"\n{format:34}{cells(f'{size:,}' for size in sizes)}   ours/it  growth")
        for timing in timings:
            if not timing.best:
                print(f"  {timing.name:32}  {timing.note}")
                continue
            ratio = " ".join(
                f"{ours[size] / timing.best[size]:.2f}" for size in sizes if size in timing.best
            )
            times = cells(milliseconds(timing.best.get(size)) for size in sizes)
            print(f"  {timing.name:32}{times}   {ratio}   {growth(timing.best)}")


def model_of(format: str) -> str:
    model = formats.find(format).default_model
    assert model is not None
    return model


def require_same_payload(format: str) -> None:
    """Ours and the hand-written loop must do the same work to be compared."""
    model = model_of(format)
    sample = replace(workload.clean(1_000), tools=())  # has everything in it, pictures too
    by_hand = msgspec.json.decode(naive.LOOPS[format](sample, model))
    if by_hand != render(sample, format, model=model).payload:
        raise SystemExit(f"{format}: the hand-written loop gives another payload than render")


def rendering(
    conversations: dict[int, Conversation], format: str, *, peers: bool, collecting: bool
) -> list[Timing]:
    """Ours, the hand-written loop, and the peers, at each size."""
    model = model_of(format)
    loop = naive.LOOPS[format]
    makers: dict[str, Callable[[Conversation], Run]] = {
        "contextwright": lambda held: partial(render, held, format, model=model),
        "by hand": lambda held: partial(loop, held, model),
    }
    absent: list[Timing] = []
    for ready in ready_peers(format, model) if peers else ():
        name = f"{ready.peer.name} {ready.version}"
        if ready.prepare is None:
            absent.append(Timing(name, note=ready.reason))
        else:
            makers[name] = ready.prepare
    timings = {name: Timing(name) for name in makers}
    for size, conversation in conversations.items():
        runs = {name: make(conversation) for name, make in makers.items()}
        for name, seconds in best_of(runs, rounds=rounds(size), collecting=collecting).items():
            timings[name].best[size] = seconds * 1000
            if seconds > SLOWEST / 10:
                del makers[name]
    return [*timings.values(), *absent]


def show_variants(
    conversations: dict[int, Conversation], names: Sequence[str], *, collecting: bool
) -> None:
    """Histories that need one rule, beside the loop by hand over the clean one."""
    print("\nHistories that need one rule, times the loop by hand\n")
    print(f"{'':34}{cells(f'{size:,}' for size in conversations)}")
    for format in names:
        model = formats.find(format).default_model
        ratios: dict[str, list[str]] = {name: [] for name in VARIANTS}
        for size, clean in conversations.items():
            runs: dict[str, Run] = {"by hand": partial(naive.LOOPS[format], clean, model or "")}
            for name, vary in VARIANTS.items():
                runs[name] = partial(render, vary(clean), format, model=model)
            best = best_of(runs, rounds=rounds(size), collecting=collecting)
            for name, row in ratios.items():
                row.append(f"{best[name] / best['by hand']:.2f}")
        for name, row in ratios.items():
            print(f"  {format + ', ' + name:32}{cells(row)}")


def without_last_question(clean: Conversation) -> Conversation:
    """The history up to the last words of the model."""
    messages = clean.messages
    while messages[-1].role != "assistant" or messages[-1].calls:
        messages = messages[:-1]
    return replace(clean, messages=messages)


def with_names(clean: Conversation) -> Conversation:
    """The history with three people in turns."""
    people = [Author(name=name) for name in ("Alice", "Bob", "Carol")]
    return replace(
        clean,
        messages=tuple(
            replace(message, author=people[index % 3]) if message.role == "user" else message
            for index, message in enumerate(clean.messages)
        ),
    )


VARIANTS = {"the model spoke last": without_last_question, "three names": with_names}


def ready_peers(format: str, model: str) -> list[Any]:
    """The peers of a format, imported and tried once."""
    from contenders.peers import PEERS, Ready

    sample = workload.clean(1_000)  # has everything in it, pictures too
    return [Ready.from_peer(peer, model, sample) for peer in PEERS if peer.format == format]


# --- checking and repairs --------------------------------------------------------------------


def show_checking(
    conversations: dict[int, Conversation], names: Sequence[str], *, collecting: bool
) -> None:
    """`check` of the payloads just rendered, which finds nothing, beside a loop that looks less."""
    sizes = list(conversations)
    print("\nChecking the payload of a clean history (CPU ms)")
    for format in names:
        model = model_of(format)
        best: dict[str, dict[int, float]] = {"check": {}, "by hand": {}}
        for size, conversation in conversations.items():
            payload = render(conversation, format, model=model).payload
            problems = check(payload, format, model=model)
            # The longest has more bytes and pictures than one request may have.
            if any(problem.code not in ("X-size", "X-media") for problem in problems):
                raise SystemExit(f"{format}: the rendered payload has errors")
            runs: dict[str, Run] = {
                "check": partial(check, payload, format, model=model),
                "by hand": partial(naive.CHECKS[format], payload),
            }
            found = best_of(runs, rounds=rounds(size), collecting=collecting)
            for name, seconds in found.items():
                best[name][size] = seconds * 1000
        print(f"\n{format:34}{cells(f'{size:,}' for size in sizes)}   ours/it  growth")
        for name, taken in best.items():
            ratio = " ".join(f"{best['check'][size] / taken[size]:.2f}" for size in sizes)
            times = cells(milliseconds(taken[size]) for size in sizes)
            print(f"  {name:32}{times}   {ratio}   {growth(taken)}")


def show_repairs(sizes: Sequence[int], names: Sequence[str], *, collecting: bool) -> None:
    """The same conversation clean and after damage to about one message in ten."""
    kept = [size for size in sizes if size <= 10_000]
    print("\nWhat repairs cost: a damaged history beside a clean one (CPU ms)\n")
    print(f"{'':34}{cells(('messages', 'clean', 'damaged', 'ratio', 'changes'))}")
    for format in names:
        model = model_of(format)
        for size in kept:
            clean, dirty = workload.clean(size), workload.dirty(size)
            runs: dict[str, Run] = {
                "clean": partial(render, clean, format, model=model),
                "dirty": partial(render, dirty, format, model=model),
            }
            best = best_of(runs, rounds=rounds(size), collecting=collecting)
            changes = len(render(dirty, format, model=model).changes)
            row = (
                f"{size:,}",
                milliseconds(best["clean"] * 1000),
                milliseconds(best["dirty"] * 1000),
                f"{best['dirty'] / best['clean']:.1f}",
                f"{changes:,}",
            )
            print(f"  {format:32}{cells(row)}")


# --- import ----------------------------------------------------------------------------------


STATEMENTS = {
    "import msgspec": "import msgspec",
    "import contextwright": "import contextwright",
    **{
        f"import, and the first {format} request": (
            f"import contextwright as cw; cw.render(cw.user('Hello'), {format!r})"
        )
        for format in FORMATS
    },
}


def show_import() -> None:
    """CPU of a fresh interpreter that imports, and what it loads."""
    print("\nImport in a fresh interpreter, beyond its own start (CPU ms, best of 15)\n")
    bare = import_time("pass")
    for name, statement in STATEMENTS.items():
        print(f"  {name:48}{milliseconds(import_time(statement) - bare):>9}")
    print(f"  {'(the interpreter itself)':48}{milliseconds(bare):>9}")
    ours = modules_after("import contextwright") - modules_after("import msgspec")
    heavy = ", ".join(name for name in HEAVY if name in ours) or "none"
    print(
        f"\n  modules loaded beyond those of msgspec: {len(ours)}; heavy ones among them: {heavy}"
    )


def import_time(statement: str) -> float:
    """CPU milliseconds of a fresh interpreter that runs one statement, with its start."""
    program = f"{statement}\nimport time\nprint(time.process_time())"
    return min(float(output_of(program)) for _ in range(15)) * 1000


def modules_after(statement: str) -> set[str]:
    """The modules loaded once a statement has run."""
    return set(output_of(f"{statement}\nimport sys\nprint(*sys.modules)").split())


def output_of(program: str) -> str:
    """What a program prints in an interpreter of its own."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


# --- the clock -------------------------------------------------------------------------------


def best_of(runs: dict[str, Run], *, rounds: int, collecting: bool) -> dict[str, float]:
    """The best CPU seconds of each run, taken in turns.

    What is alive already is put out of the collector's sight first.
    """
    repeats = {name: repeats_of(run) for name, run in runs.items()}
    best = dict.fromkeys(runs, math.inf)
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        for name, run in runs.items():
            best[name] = min(best[name], timed(run, repeats[name], collecting=collecting))
    gc.unfreeze()
    return best


def repeats_of(run: Run) -> int:
    """How many runs make a sample; the first run is not counted, it only warms up."""
    run()
    return max(1, math.ceil(SAMPLE / max(timed(run, 1, collecting=False), 1e-6)))


def timed(run: Run, repeats: int, *, collecting: bool) -> float:
    """CPU seconds of one run.

    Unless asked otherwise the collector stays off while the clock runs, since when it strikes
    depends on what ran before.
    """
    gc.collect()
    if not collecting:
        gc.disable()
    started = process_time()
    for _ in range(repeats):
        run()
    taken = process_time() - started
    gc.enable()
    return taken / repeats


def rounds(size: int) -> int:
    """Fewer rounds where each takes long."""
    return 60 if size <= 1_000 else 5 if size <= 10_000 else 3


# --- the table -------------------------------------------------------------------------------


def cells(values: Iterable[str]) -> str:
    return "".join(f"{value:>10}" for value in values)


def milliseconds(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def growth(best: dict[int, float]) -> str:
    """The exponent of growth from each size to the next: 1 is linear."""
    sizes = sorted(best)
    exponents = [
        math.log(best[large] / best[small]) / math.log(large / small)
        for small, large in zip(sizes, sizes[1:], strict=False)
    ]
    return " ".join(f"{exponent:.2f}" for exponent in exponents)


if __name__ == "__main__":
    raise SystemExit(main())
