"""The same work for every library; each job gives plain values, which become tables.

    python -m contenders.jobs LIBRARY [--data FOLDER] [--sizes 100,1000] [--jobs turns,counting]

Runs in the environment of one library and prints JSON. CPU time of the process, without garbage
collection; a figure is [median, first quartile, third quartile] in milliseconds.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import os
import statistics
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import msgspec
from msgspec.structs import replace

import contextwright as cw
import workload
from contenders import naive
from contenders.conversions import CASES, CONVERTERS, judged
from contenders.frameworks import RENDERERS, WAYS
from contenders.peers import Ready
from contenders.recalls import recalled
from contenders.recordings import cached_shares, count_errors
from contenders.windows import MODEL, Talk, Way, tokens
from contextwright import Conversation, render

BUDGET = 8_000
LIMIT = 20.0
"""CPU seconds after which a figure has no more rounds; a size that would take three times as long
is left out."""
JOBS = (
    "rendering",
    "conversions",
    "counting",
    "recall",
    "validity",
    "trimming",
    "caching",
    "turns",
)
LEFT_OUT = "left out: takes minutes"
HISTORIES = 200
FORMATS = ("openai-chat", "anthropic", "gemini")
TARGETS = ("anthropic", "gemini")
MODELS = {"openai-chat": MODEL, "anthropic": "claude-sonnet-5-5", "gemini": "gemini-3.8-flash"}
PACKAGES = {"langchain": "langchain-core", "pydantic-ai": "pydantic-ai-slim"}
PACKAGES |= {"agent-framework": "agent-framework-core", "llama-index": "llama-index-core"}
PACKAGES |= {"mem0": "mem0ai"}

encode = msgspec.json.Encoder().encode
Figure = tuple[float, float, float]
Found = dict[str, Any]


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("library")
    options.add_argument("--data", type=Path, help="a folder with wire/, trajectories/ and recall/")
    options.add_argument("--sizes", default="100,1000,10000,100000")
    options.add_argument("--jobs", default=",".join(JOBS))
    given = options.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    warnings.simplefilter("ignore")
    logging.disable()
    # Whatever a library prints is not the result.
    result, sys.stdout = sys.stdout, sys.stderr
    found = all_jobs(given.library, given.jobs.split(","), sizes, given.data)
    print(json.dumps(found), file=result, flush=True)
    os._exit(0)  # some leave threads behind


def all_jobs(library: str, jobs: Sequence[str], sizes: Sequence[int], data: Path | None) -> Found:
    ways = [way for way in WAYS if way.library == library]
    found: Found = {"version": version_of(library)}
    if "rendering" in jobs:
        found["rendering"] = rendering(library)
    if "conversions" in jobs:
        found["conversions"] = conversions(library)
    if "counting" in jobs and data:
        found["counting"] = count_errors(library, data)
    if "recall" in jobs and data:
        found["recall"] = recalled(library, data)
    return {**found, "ways": {way.name: of_way(way, jobs, sizes, data) for way in ways}}


def of_way(way: Way, jobs: Sequence[str], sizes: Sequence[int], data: Path | None) -> Found:
    found: Found = {"budget": way.budget}
    if way.begin is not None and "validity" in jobs:
        found["validity"] = validity(way.begin, way.format)
    if way.begin is not None and "trimming" in jobs:
        found["trimming"] = by_size(sizes[:3], partial(trimming, way.begin, way.chunk))
    if way.begin is not None and "caching" in jobs:
        found["caching"] = cached_shares(way.begin, data) if data else {}
    if way.stored is not None and "turns" in jobs:
        found["turns"] = by_size(sizes, partial(turns, way.stored, way.chunk))
    return found


def version_of(library: str) -> str:
    try:
        return version(PACKAGES.get(library, library))
    except PackageNotFoundError:
        return ""


# --- the clock -------------------------------------------------------------------------------


def timed(run: Callable[[], object], rounds: int = 15, seconds: float = 2.0) -> Figure:
    """Median and quartiles in CPU milliseconds; fewer rounds of what takes long."""
    gc.collect()
    gc.disable()
    taken: list[float] = []
    while len(taken) < rounds and (sum(taken) < seconds or len(taken) < 3) and sum(taken) < LIMIT:
        start = process_time()
        run()
        taken.append(process_time() - start)
    gc.enable()
    low, middle, high = statistics.quantiles(taken, n=4) if len(taken) > 1 else taken * 3
    return middle * 1e3, low * 1e3, high * 1e3


def by_size(sizes: Sequence[int], measure: Callable[[int], Figure]) -> dict[str, Any]:
    """A figure for each size, and why there are no more."""
    found: dict[str, Any] = {}
    before = 0.0
    for number, size in enumerate(sizes):
        start = process_time()
        try:
            found[str(size)] = measure(size)
        except Exception as error:  # foreign code: whatever it raises is the finding
            return {**found, str(size): f"{type(error).__name__}: {error}"[:120]}
        taken = process_time() - start
        if taken * max(taken / before if before else 0, 10) > 3 * LIMIT:
            return {**found, **dict.fromkeys(map(str, sizes[number + 1 :]), LEFT_OUT)}
        before = taken
    return found


# --- jobs ------------------------------------------------------------------------------------


def rendering(library: str) -> Found:
    """1,000 messages to JSON bytes for each provider."""
    held = replace(workload.clean(1_000), tools=())
    found: Found = {}
    for format in FORMATS:
        run = renderer(library, format, held)
        if callable(run):
            run()
            found[format] = timed(run)
        elif run:
            found[format] = run
    return found


def renderer(library: str, format: str, held: Conversation) -> Callable[[], object] | str | None:
    """What renders a conversation, why it does not, or None where there is nothing that could."""
    model = MODELS[format]
    if library == "contextwright":
        return lambda: render(held, format, model=model).json
    if library == "by hand":
        return lambda: naive.LOOPS[format](held, model)
    if library == "floor":
        ready = msgspec.json.decode(naive.LOOPS[format](held, model))
        return lambda: encode(ready)
    for peer in RENDERERS:
        if (peer.name, peer.format) == (library, format):
            tried = Ready.from_peer(peer, model, held)
            return tried.prepare(held) if tried.prepare else tried.reason
    return None


def trimming(begin: Callable[[int], Talk], chunk: int, size: int) -> Figure:
    """The newest message comes, and the request that fits the budget is made, from memory."""
    talk = begin(BUDGET)
    fill(talk, chunk, size)
    return timed_turns(talk)


def fill(talk: Talk, chunk: int, size: int) -> None:
    messages = workload.clean(size).messages
    for at in range(0, len(messages), chunk):
        talk.add(messages[at : at + chunk])


def turns(stored: Callable[[Path, int], Talk], chunk: int, size: int) -> Figure:
    """The same from disk, where the message must be too."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        talk = stored(Path(folder), BUDGET)
        fill(talk, chunk, size)
        return timed_turns(talk)


def timed_turns(talk: Talk) -> Figure:
    random = Random(7)

    def turn() -> bytes:
        talk.add([cw.user(workload.words(random, 400))])
        return encode(talk.request())

    if tokens(turn().decode()) > 2 * BUDGET:
        raise ValueError("the request is not cut")
    return timed(turn)


def validity(begin: Callable[[int], Talk], format: str) -> Found:
    """200 tool histories, cut to between a fifth and four fifths: which requests are wrong?"""
    found = {"invalid": 0, "judge": 0, "over": 0, "question": 0, "raises": 0, "fill": 0.0}
    filled: list[float] = []
    for seed in range(HISTORIES):
        random = Random(seed)
        messages = [cw.system("You are careful."), *workload.turns(random, random.randint(12, 60))]
        total = sum(tokens(encode(message).decode()) for message in messages)
        budget = max(int(total * random.uniform(0.2, 0.8)), 1_200)
        talk = begin(budget)
        try:
            talk.add(messages)
            payload = json.loads(encode(talk.request()))
        except Exception:  # a library that raises sends nothing
            found["raises"] += 1
            continue
        problems = cw.check(payload, format, model=MODELS[format])
        found["invalid"] += any(problem.level == "error" for problem in problems)
        found["judge"] += bool(naive.CHECKS[format](payload))
        used = cw.count(payload, model=MODELS[format]).tokens
        found["over"] += used > budget
        filled.append(used / budget)
        found["question"] += not has_question(messages, payload)
    found["fill"] = statistics.mean(filled) if filled else 0.0
    return found


def has_question(messages: Sequence[cw.Message], payload: Any) -> bool:
    """Whether the newest question is in the request."""
    newest = next(message for message in reversed(messages) if message.role == "user")
    return encode(newest.text)[1:-1] in encode(payload)


def conversions(library: str) -> Found:
    """Per target: the cases that go wrong, and why."""
    if library not in CONVERTERS:
        return {}
    convert = CONVERTERS[library]
    return {
        target: {case.name: judged(case, target, convert) for case in CASES} for target in TARGETS
    }


if __name__ == "__main__":
    raise SystemExit(main())
