"""The command line `cw`, also called `contextwright`: parse, call, print.

What every command keeps to: results on standard output, everything else on standard error; an
error is one line that names the place and what to do; exit code 0 when all is well, 1 when a
problem was found, 2 when the call is wrong, 130 after Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]

PROBLEM, WRONG_CALL, INTERRUPTED = 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code; without arguments, those of the process."""
    try:
        return run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:
        return INTERRUPTED


def run(arguments: Sequence[str]) -> int:
    """Run one command; what goes wrong becomes one line and an exit code."""
    from contextwright.cli.output import complain
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
        complain(f"{error.filename or 'cannot write'}: {error.strerror or error}")
        return PROBLEM
    except RecursionError:
        complain("the data nests too deeply")
        return PROBLEM
    except MemoryError:
        complain("the data does not fit into memory")
        return PROBLEM


def run_command(arguments: Sequence[str]) -> int:
    """Run one command, a plain stream without the parser: that takes longer to load than it."""
    if arguments[:1] in (["append-stream"], ["dump"]):
        from contextwright.cli.streams import run_plain

        code = run_plain(arguments)
        if code is not None:
            return code
    import typer

    from contextwright.cli.commands import app
    from contextwright.cli.output import complain

    try:
        return app(list(arguments) or ["--help"], prog_name="cw", standalone_mode=False) or 0
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "cw"
        complain(f"{error.format_message().rstrip('.')} (see {command} --help)")
        return error.exit_code
