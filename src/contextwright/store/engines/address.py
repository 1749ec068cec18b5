"""Addresses of stores: the path of a file, or the URL of a database server.

An address may contain a password, so errors and progress only show it with `shown_address`.
"""

from __future__ import annotations

import re

from contextwright.errors import UsageError, shown
from contextwright.text.utf8 import is_utf8

__all__ = ["file_of", "is_server", "server_url", "shown_address"]

SERVER = re.compile(r"(postgres|postgresql)(\+\w+)?:", re.IGNORECASE)
"""Schemes of a server's URL; a driver suffix, as SQLAlchemy writes it, is ignored."""
LOGIN = re.compile(r"^([^:]*:/*).*@", re.DOTALL)
"""The text between the first colon and an @, even in a URL whose scheme is misspelled."""
PASSWORD = re.compile(r"(?i)(pass\w*=)('[^']*'|[^\s&]*)")


def is_server(address: str) -> bool:
    """Whether an address is that of a database server, not of a file."""
    return SERVER.match(address) is not None


def server_url(address: str) -> str:
    """Return the URL of a server as its library reads it: without a driver, in lower case."""
    return SERVER.sub("postgresql:", address, count=1)


def shown_address(address: str) -> str:
    """Return an address as errors quote it, without a password."""
    return shown(PASSWORD.sub(r"\1…", LOGIN.sub(r"\1…@", address)))


def file_of(address: str) -> str:
    """Return the path of an SQLite file.

    Raises:
        UsageError: the address is not a path, or a URL of another database.
    """
    path = address.removeprefix("sqlite://") if address.startswith("sqlite://") else address
    if path.startswith("/") and address.startswith("sqlite:///"):
        path = path[1:] or path  # sqlite:///chat.db is relative, sqlite:////chat.db absolute
    is_name = path not in ("", ":memory:") and "\0" not in path and is_utf8(path)
    if "://" in path or not is_name:
        hint = "a file, or a URL such as postgresql://host/database"
        raise UsageError(f"{shown_address(path)} is not a valid store location", hint=hint)
    return path
