"""Packages that load their public names on first use."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # `typing` would take most of the time of `import contextwright`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

__all__ = ["lazily"]


def lazily(
    package: str, names: Mapping[str, str], modules: Iterable[str] = ()
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__all__`, `__getattr__` and `__dir__` of a package.

    `names` maps a module to the public names it defines, separated by spaces. `modules` are
    public modules of the package: attributes too, but not part of `import *`.
    """
    home = {name: module for module, defined in names.items() for name in defined.split()}
    home |= dict.fromkeys(modules, "")

    def load(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home[name]:
            value = getattr(import_module(home[name]), name)
        else:
            value = import_module(f"{package}.{name}")
        setattr(sys.modules[package], name, value)
        return value

    return sorted(name for name in home if home[name]), load, lambda: sorted(home)
