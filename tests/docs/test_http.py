"""The page about the HTTP API is made from its code."""

import http_page


def test_the_page_is_up_to_date() -> None:
    assert http_page.PAGE.read_text("utf-8") == http_page.page(), "run: python tests/http_page.py"
