"""A plugin for pytest that tries mutants on the collected tests, each in a fork.

The package and the tests are imported once. The fork puts the functions of a mutant in place of
the package's and runs its tests until one fails, so a mutant costs what its tests cost. A fault
outside of functions took effect on import: such a mutant is left out.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from time import process_time
from types import CodeType, FunctionType
from typing import Any, NoReturn

import pytest
from _pytest.runner import runtestprotocol

from .mutants import SOURCE, Mutant

LOOP_SECONDS = 60
"""CPU time after which a test loops: three times that of all chosen tests without the fault."""
WALL_SECONDS = 600
"""For a test that waits for something that never comes, on a busy machine."""
OUTSIDE = "outside of functions"
CACHE: type = type(cache(len))
MEMORY = 8 << 30
"""A loop without an end may fill this much, not the machine's memory."""


class Trials:
    """Tries each mutant on the tests of these names; `killers` names the first that fails."""

    def __init__(self, chosen: Mapping[int, tuple[Mutant, Sequence[str]]]) -> None:
        self.chosen = chosen
        self.killers: dict[int, str] = {}
        self.unsound: set[str] = set()
        self.functions: list[FunctionType] = []
        self.caches: list[Any] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        by_name = {item.nodeid: item for item in session.items}
        gc.unfreeze()  # conftest.py hides what is imported from the collector
        functions = [one for one in gc.get_objects() if isinstance(one, FunctionType)]
        self.functions = [one for one in functions if is_in_package(one.__code__)]
        # What was computed on import was computed without the fault.
        known = [one for one in gc.get_objects() if isinstance(one, CACHE)]
        self.caches = [one for one in known if isinstance(one.__wrapped__, FunctionType)]
        gc.freeze()  # a fork copies what its collector touches
        for number, (mutant, names) in self.chosen.items():
            items = [by_name[name] for name in names if name in by_name]
            killer = self.killer(items, mutant)
            session.config.get_terminal_writer().line(f"{number:>4} {killer or 'survived'}")
            if killer != OUTSIDE:
                self.killers[number] = killer
        return True

    def killer(self, items: Sequence[pytest.Item], mutant: Mutant) -> str:
        """The first test that fails with the fault, also alone, and passes alone without it."""
        sound = [item for item in items if item.nodeid not in self.unsound]
        killer = last_in_a_fork(lambda: self.tried(sound, mutant))
        guilty = [item for item in sound if item.nodeid == killer]
        if not guilty:
            return killer
        if last_in_a_fork(lambda: self.tried(guilty)):
            self.unsound.add(killer)
        elif last_in_a_fork(lambda: self.tried(guilty, mutant)):
            return killer
        return self.killer([item for item in sound if item not in guilty], mutant)

    def tried(self, items: Sequence[pytest.Item], mutant: Mutant | None = None) -> Iterator[str]:
        """The name of each test before it runs, until one fails; at the end nothing.

        Only OUTSIDE if no function has the fault.
        """
        signal.alarm(WALL_SECONDS)
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        if mutant and not self.replace_functions(mutant):
            yield OUTSIDE
            return
        for item, following in zip(items, [*items[1:], None], strict=True):
            yield item.nodeid
            end = int(process_time()) + LOOP_SECONDS
            resource.setrlimit(resource.RLIMIT_CPU, (end, resource.RLIM_INFINITY))
            reports = runtestprotocol(item, log=False, nextitem=following)
            if any(report.failed for report in reports):
                return
        yield ""

    def replace_functions(self, mutant: Mutant) -> bool:
        """Give functions of the package their code with the fault; whether that can be done."""
        codes, path = codes_of(mutant), str(mutant.path)
        found = [one for one in self.functions if one.__code__.co_filename == path]
        found = [one for one in found if one.__code__ in codes]
        for function in found:
            code = codes[function.__code__]
            if code.co_freevars != function.__code__.co_freevars:
                return False  # which a function keeps
            function.__code__ = code
        for one in self.caches:
            if one.__wrapped__.__code__.co_filename == path:
                one.cache_clear()  # all would load tokenizers again, whose threads a fork lacks
        return bool(found)


def last_in_a_fork(work: Callable[[], Iterator[str]]) -> str:
    """The last line that work yields in a process of its own, also if that dies of a signal.

    OUTSIDE if it fails by itself: then nothing is known.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        write_lines(work, writing)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        lines = pipe.read().splitlines()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return OUTSIDE if code > 0 else lines[-1]


def write_lines(work: Callable[[], Iterator[str]], writing: int) -> NoReturn:
    code = 3
    try:
        for line in work():
            os.write(writing, f"{line}\n".encode())
        code = 0
    except BaseException:
        traceback.print_exc()
    os._exit(code)


def codes_of(mutant: Mutant) -> dict[CodeType, CodeType]:
    """The code of the functions that the fault changes, with what it becomes."""
    path = str(mutant.path)
    after = functions_of(compile(mutant.tree, path, "exec"))
    before = functions_of(compile(mutant.path.read_bytes(), path, "exec"))
    return {code: after[key] for key, code in before.items() if after.get(key, code) != code}


def is_in_package(code: CodeType) -> bool:
    return code.co_filename.startswith(f"{SOURCE}{os.sep}")


def functions_of(module: CodeType) -> dict[tuple[str, int, int], CodeType]:
    """All code within a module's, by its name, its first line and its number among such."""
    found: dict[tuple[str, int, int], CodeType] = {}
    alike: Counter[tuple[str, int]] = Counter()
    waiting = [module]
    while waiting:
        for inner in waiting.pop().co_consts:
            if isinstance(inner, CodeType):
                key = inner.co_qualname, inner.co_firstlineno
                found[*key, alike[key]] = inner
                alike[key] += 1
                waiting.append(inner)
    return found
