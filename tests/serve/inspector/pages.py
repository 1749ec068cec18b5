"""The inspector as a person uses it."""

import re
import shutil
from typing import NamedTuple
from urllib.parse import quote, urlencode

from playwright.sync_api import Page, expect

import contextwright as cw
from serve.api.client import ID, Client
from serve.gateways import TOKEN

PATIENCE = 60_000
"""Milliseconds to wait for what must come; a machine may be busy."""

BUDGET = 1_200
"""So few tokens that the conversation of twelve rounds is cut, and its cache broken."""
MODEL = "claude-sonnet-5-5"

NO_CHROMIUM = "no Chromium here; Debian has it as the package chromium"

expect.set_options(timeout=PATIENCE)


def chromium() -> str | None:
    """The path of the system's Chromium."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def patient(page: Page) -> Page:
    page.set_default_timeout(PATIENCE)
    return page


class Inspector(NamedTuple):
    """The page, opened with the link that `cw inspect` makes."""

    page: Page
    client: Client

    def open(self, view: str = "") -> Page:
        """Open a view, as a link to it does."""
        mark = "&" if "?" in view else "?"
        self.page.goto(f"{self.client.gateway.address}/#/{view}{mark}token={TOKEN}")
        return self.page

    def flight(self, id: str, **params: object) -> Page:
        """Open a conversation, and wait until all of it is drawn."""
        page = self.open(f"c/{quote(id, safe='')}?{urlencode(params)}")
        self.wait()
        return page

    def wait(self) -> None:
        expect(self.page.locator(".request-pane .bigs")).to_be_visible()
        expect(self.page.get_by_label("Request", exact=True)).to_be_enabled()
        expect(self.page.locator(".stale")).to_have_count(0)

    def built(self, at: int | None = None) -> cw.Context:
        """What the library builds from the same messages."""
        chat = self.client.store.conversation(ID)
        return chat.context("default", model=MODEL, budget=BUDGET, at=at)

    @property
    def tokens(self) -> int:
        """The tokens of the request that is shown."""
        return number(self.page.locator(".bigs b").first.inner_text())

    @property
    def place(self) -> str:
        return self.page.url.partition("#")[2]


def number(text: str) -> int:
    return int(re.sub(r"\D", "", text))
