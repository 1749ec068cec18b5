"""A real browser, and a store that it is shown."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from serve.api.client import Client, served
from serve.inspector.pages import NO_CHROMIUM, Inspector, chromium, patient


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The system's Chromium; in CI `test_chromium_is_there` fails without one.

    Playwright's event loop stays in this thread as long as it is open, and other tests have theirs.
    """
    path = chromium()
    if path is None:
        pytest.skip(NO_CHROMIUM)
    # As root, Chromium has no sandbox of its own.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with served(tmp_path_factory.mktemp("served")) as client:
        yield client


@pytest.fixture(scope="package")
def tab(browser: Browser) -> Iterator[Page]:
    """One tab for all tests: a new one costs more than what most tests do in it."""
    with browser.new_context() as context:
        yield patient(context.new_page())


@pytest.fixture
def page(tab: Page, client: Client) -> Iterator[Page]:
    """The tab as if it were new, 1,280 by 900; whatever it complains about fails the test."""
    # A page of the same origin, because for any other the browser starts a process of its own.
    tab.goto(f"{client.gateway.address}/inspector/icon.svg")
    tab.evaluate("localStorage.clear(), sessionStorage.clear()")
    tab.context.clear_permissions()
    tab.unroute_all()
    tab.emulate_media(color_scheme="light")
    tab.set_viewport_size({"width": 1280, "height": 900})
    complaints: list[str] = []
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("console", lambda said: complaints.append(said.text))
    yield tab
    # An answer that is refused is the page's own business; it says so in words.
    assert [one for one in complaints if "the server responded" not in one] == []


@pytest.fixture
def inspector(page: Page, client: Client) -> Inspector:
    return Inspector(page, client)
