"""Addresses and data of pictures and documents."""

from typing import Any

import pytest

import contextwright as cw
from samples.formats.anthropic import body

PDF, PNG, SITE = "application/pdf", "image/png", "https://example.com/"
UNREAD = "A-url-type messages[0].content[0].source.url: the URL seems to lead to {}, which is not"


def by_address(url: str, type: str = "url") -> dict[str, Any]:
    return {"type": type, "url": url}


@pytest.mark.parametrize(
    ("kind", "held", "problem"),
    [
        ("image", by_address(f"{SITE}a.png"), ""),
        ("image", by_address(f"{SITE}a.webp"), ""),
        ("image", by_address(f"{SITE}a"), ""),
        ("image", by_address(f"{SITE}a.pdf"), UNREAD.format(PDF)),
        ("image", by_address(f"{SITE}a.bmp"), UNREAD.format("image/bmp")),
        ("document", by_address(f"{SITE}a.pdf"), ""),
        ("document", by_address(f"{SITE}a.png"), UNREAD.format(PNG)),
        ("document", by_address(f"{SITE}a.txt"), UNREAD.format("text/plain")),
        ("document", {"type": "text", "media_type": "text/plain", "data": "a.png"}, ""),
        ("document", {"type": "file", "file_id": "a.png"}, ""),
    ],
)
def test_what_is_read_from_an_address(kind: str, held: dict[str, Any], problem: str) -> None:
    request = body(("user", [{"type": kind, "source": held}]))
    found = [str(one) for one in cw.check(request, "anthropic")]
    assert len(found) == bool(problem)
    assert all(one.startswith(f"warning {problem}") for one in found)


def test_an_address_of_another_kind_of_source_is_not_looked_at() -> None:
    request = body(("user", [{"type": "image", "source": by_address(f"{SITE}a.pdf", "zzz")}]))
    assert "A-url-type" not in [one.code for one in cw.check(request, "anthropic")]
