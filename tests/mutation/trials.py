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
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import NoReturn

import pytest
from _pytest.runner import runtestprotocol

from .mutants import Mutant

CPU_SECONDS = 100
"""Five times what the tests of a mutant take without it."""
WALL_SECONDS = 1_200
"""For a test that waits for something that never comes, on a busy machine."""
OUTSIDE = "outside of functions"
MEMORY = 8 << 30
"""A loop without an end may fill this much, not the machine's memory."""


class Trials:
    """Tries each mutant on the tests of these names; `killers` names the first that fails."""

    def __init__(self, chosen: Mapping[int, tuple[Mutant, Sequence[str]]]) -> None:
        self.chosen = chosen
        self.killers: dict[int, str] = {}
        self.unsound: set[str] = set()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        by_name = {item.nodeid: item for item in session.items}
        for number, (mutant, names) in self.chosen.items():
            items = [by_name[name] for name in names if name in by_name]
            killer = self.killer(items, mutant)
            session.config.get_terminal_writer().line(f"{number:>4} {killer or 'survived'}")
            if killer != OUTSIDE:
                self.killers[number] = killer
        return True

    def killer(self, items: Sequence[pytest.Item], mutant: Mutant) -> str:
        """The first test that fails with the fault and passes without it."""
        sound = [item for item in items if item.nodeid not in self.unsound]
        killer = in_a_fork(lambda: first_failure(sound, mutant))
        guilty = [item for item in sound if item.nodeid == killer]
        if guilty and in_a_fork(lambda: first_failure(guilty)):
            self.unsound.add(killer)
            return self.killer(sound, mutant)
        return killer


def in_a_fork(work: Callable[[], str]) -> str:
    """What a function returns in a process of its own, or how that process ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        answer(work, writing)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        result = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return f"exit code {code}" if code else result


def answer(work: Callable[[], str], writing: int) -> NoReturn:
    code = 3
    try:
        os.write(writing, work().encode())
        code = 0
    finally:
        os._exit(code)


def first_failure(items: Sequence[pytest.Item], mutant: Mutant | None = None) -> str:
    """The first test that fails, if one does; OUTSIDE if no function has the fault."""
    signal.alarm(WALL_SECONDS)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    if mutant and not replace_functions(mutant):
        return OUTSIDE
    for item, following in zip(items, [*items[1:], None], strict=True):
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=following)):
            return item.nodeid
    return ""


def replace_functions(mutant: Mutant) -> bool:
    """Give every function of the mutant's file its code there; whether one of them is different."""
    path = str(mutant.path)
    codes = dict(functions_of(compile(mutant.tree, path, "exec")))
    different = False
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__.co_filename == path:
            before = function.__code__
            function.__code__ = codes.get((before.co_qualname, before.co_firstlineno), before)
            different |= function.__code__ != before
    return different


def functions_of(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    """All code within a module's, by its name and its first line."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield (inner.co_qualname, inner.co_firstlineno), inner
            yield from functions_of(inner)
