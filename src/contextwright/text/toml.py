"""The one way TOML of other people is read here."""

from __future__ import annotations

import tomllib
from typing import Any

from contextwright.errors import ParseError

__all__ = ["decode_toml"]


def decode_toml(content: bytes) -> dict[str, Any]:
    """Decode TOML; a byte order mark, which some editors write, is skipped.

    Raises:
        ParseError: it is not TOML, or not UTF-8.
    """
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        message = f"byte 0x{content[error.start]:02x} is not UTF-8"
        line = content.count(b"\n", 0, error.start) + 1
        raise ParseError(message, line=line, hint="save it as UTF-8") from None
    except RecursionError as error:
        raise ParseError("nested too deeply") from error
    except tomllib.TOMLDecodeError as error:
        raise ParseError(str(error)) from error
    except ValueError as error:  # of `int`
        raise ParseError("an integer of too many digits", hint="write it as a string") from error
