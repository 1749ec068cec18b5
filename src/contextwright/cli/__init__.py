"""The command line `cw`, also installed as `contextwright`.

Every command prints results to standard output and everything else to standard error. An error is
one line that names the place and what to do. Exit codes: 0 success, 1 a problem was found, 2 the
call is wrong, 130 interrupted by Ctrl-C.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # until `main` runs, Ctrl-C prints a traceback, and `typing` takes long
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

PROBLEM, WRONG_CALL, INTERRUPTED = 1, 2, 130

COMPLETION = "_CW_COMPLETE"
"""The environment variable in which the script of a shell asks for completion."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; without arguments, use those of the process."""
    try:
        return run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:
        return INTERRUPTED


def run(arguments: Sequence[str]) -> int:
    """Run one command and turn errors into one line and an exit code."""
    import datetime as datetime  # msgspec crashes if Ctrl-C interrupts its own import of it

    from contextwright.cli.output import complain, discard_output
    from contextwright.errors import ContextwrightError, UsageError

    try:
        return run_command(arguments)
    except UsageError as error:
        complain(str(error))
        return WRONG_CALL
    except ContextwrightError as error:
        complain(str(error))
        return PROBLEM
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # the reader of a pipe may leave
            complain(f"{error.filename or 'cannot write'}: {error.strerror or error}")
        discard_output()
        return PROBLEM
    except RecursionError:
        complain("the data nests too deeply")
        return PROBLEM
    except MemoryError:
        complain("the data does not fit into memory")
        return PROBLEM


def run_command(arguments: Sequence[str]) -> int:
    """Run one command; simple stream calls skip the parser, which takes longer to load."""
    if arguments[:1] in (["append-stream"], ["dump"]):
        from contextwright.cli.conversations.streams import run_plain

        code = run_plain(arguments)
        if code is not None:
            return code
    import click
    from click.shell_completion import shell_complete

    from contextwright.cli.app import app
    from contextwright.cli.output import complain, use_utf8
    from contextwright.errors import SHOWN

    use_utf8()
    if os.environ.get(COMPLETION):
        return shell_complete(app, {}, "cw", COMPLETION, os.environ[COMPLETION])
    try:
        with app.make_context("cw", list(arguments) or ["--help"]) as context:
            return app.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "cw"
        words = error.format_message().rstrip(".").split()
        message = " ".join(f"{word[:SHOWN]}…" if len(word) > SHOWN else word for word in words)
        complain(f"{message} (see {command} --help)")
        return error.exit_code
