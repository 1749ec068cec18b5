"""Shell completion: of formats, models, recipes and stored conversations, and its scripts."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from contextwright.errors import UsageError, shown

if TYPE_CHECKING:
    from click import Command

__all__ = [
    "conversations",
    "formats",
    "install",
    "models",
    "own_shell",
    "recipes",
    "script_of",
    "sources",
]

MAX_CONVERSATIONS = 1_000
"""Maximum number of stored conversations read for one completion."""


def formats(ctx: Any, param: Any, incomplete: str) -> list[str]:
    """Return the names of formats with this prefix."""
    from contextwright.formats import NAMES

    return [name for name in NAMES if name.startswith(incomplete)]


def sources(ctx: Any, param: Any, incomplete: str) -> list[str]:
    """Return the names of what `cw import` reads with this prefix."""
    from contextwright.importers.base import NAMES

    return [name for name in NAMES if name.startswith(incomplete)]


def models(ctx: Any, param: Any, incomplete: str) -> list[str]:
    """Return the names of known models with this prefix."""
    from contextwright.models import Models

    return [model.id for model in Models.shipped() if model.id.startswith(incomplete)]


def recipes(ctx: Any, param: Any, incomplete: str) -> list[str]:
    """Return the names of shipped recipes with this prefix."""
    from contextwright.context.recipe_files import SHIPPED

    return [name for name in SHIPPED if name.startswith(incomplete)]


def conversations(ctx: Any, param: Any, incomplete: str) -> list[str]:
    """Return the ids of stored conversations with this prefix; none if the store cannot be read.

    A shell shows whatever is printed while it completes, so errors are not reported here.
    """
    from contextwright.cli.locations import is_kept, location_of
    from contextwright.errors import ContextwrightError
    from contextwright.store.store import Store

    try:
        location = location_of(ctx.params.get("store"))
        if not is_kept(location):
            return []  # only files are read, because a server may be slow
        with Store(location, tenant=ctx.params.get("tenant") or "", embedder=None) as store:
            found = islice(store.list(), MAX_CONVERSATIONS)
            return [info.id for info in found if info.id.startswith(incomplete)]
    except (ContextwrightError, OSError):
        return []


# --- the scripts of shells -----------------------------------------------------------------------


class Place(NamedTuple):
    """Where a shell finds a script, from the home folder."""

    script: str
    profile: str | None = None
    """The file that loads the script; None if the shell looks for it there."""
    load: str = ""
    """The line of that file which does so."""


PLACES = {
    "bash": Place(".bash_completions/cw.sh", ".bashrc", "source ~/.bash_completions/cw.sh"),
    "zsh": Place(".zfunc/_cw", ".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit"),
    "fish": Place(".config/fish/completions/cw.fish"),
}


def own_shell() -> str:
    """Return the name of the user's shell.

    Raises:
        UsageError: it is none of those that can be completed.
    """
    name = Path(os.environ.get("SHELL", "")).name
    if name not in PLACES:
        hint = f"set SHELL to one of {', '.join(PLACES)}"
        raise UsageError(f"no completion for the shell {shown(name)}", hint=hint)
    return name


def script_of(app: Command, shell: str) -> str:
    """Return the script that completes calls of `cw` in a shell."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    return kind(app, {}, "cw", "_CW_COMPLETE").source()


def install(app: Command, shell: str) -> list[str]:
    """Write the script to where a shell finds it; return lines that say what was done.

    Raises:
        UsageError: the user has no home folder.
    """
    try:
        place, home = PLACES[shell], Path.home()
    except RuntimeError:
        raise UsageError("this user has no home folder", hint="set HOME") from None
    script = home / place.script
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(script_of(app, shell), encoding="utf-8")
    if place.profile is not None:
        profile, line = home / place.profile, place.load.encode()
        before = profile.read_bytes() if profile.exists() else b""
        if line not in before:
            gap = b"" if before.endswith(b"\n") or not before else b"\n"
            with profile.open("ab") as stream:  # what the user wrote stays, in any encoding
                stream.write(gap + line + b"\n")
    return [f"{shell} completion installed in {script}", "it works in new shells"]
