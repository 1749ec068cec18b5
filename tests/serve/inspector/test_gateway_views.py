"""Recorded requests in a real browser: waterfall, totals, exports; and the frame of the page."""

import json
import re
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, expect

from contextwright.context.receipt import Comparison
from contextwright.formats.replies.events import Usage
from samples.stores.records import PASSED
from serve.api.client import ID, PAYLOAD, Client, filled, recorded
from serve.inspector.pages import BUDGET, MODEL, Inspector, patient

SESSION = "session"


def request(client: Client, number: int, **changes: Any) -> int:
    """Record a request of a session, with what the provider counted."""
    turns = [{"role": "user", "content": f"Soup {n}?"} for n in range(number + 1)]
    record = replace(
        PASSED,
        started=f"2026-11-16T07:00:{number * 4:02}.000Z",
        first_byte=0.5,
        seconds=2.0,
        usage=Usage(input=1_000, cached=800, output=50),
        price=0.01,
        **changes,
    )
    return recorded(
        client.store, json.dumps({**PAYLOAD, "messages": turns}).encode(), SESSION, record
    )


def test_a_session_is_a_waterfall_with_running_totals(inspector: Inspector) -> None:
    broken = Comparison(700, 1_000, "messages[0]", 12, "the system text changed", 0.002)
    numbers = [request(inspector.client, n, prefix=broken if n == 2 else None) for n in range(3)]
    page = inspector.open(f"requests?conversation={SESSION}")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("$0.0300")
    expect(rows.first).to_contain_text("prefix broke")
    expect(page.locator(".figures")).to_contain_text("80 %")
    expect(page.get_by_role("img", name="80 % of the input came from the cache")).to_be_visible()
    expect(page.get_by_role("img", name="Together $0.0300")).to_be_visible()
    lefts = [one.bounding_box() for one in page.locator("tbody .fall i:first-child").all()]
    places = [box["x"] for box in lefts if box is not None]
    assert places == sorted(places, reverse=True), "the newest comes first, and stands furthest"
    assert len(set(places)) == 3
    request(inspector.client, 3)
    expect(rows).to_have_count(4)
    inspector.open()
    row = page.get_by_role("link", name=re.compile("4 messages|0 messages")).filter(has_text="80 %")
    expect(row).to_contain_text("$0.0400")
    inspector.open(f"r/{numbers[2]}")
    expect(page.get_by_text("It costs $0.00200.")).to_be_visible()
    page.get_by_role("button", name="messages[0]").click()
    expect(page.locator(".tree .here")).to_be_visible()


def test_forks_of_a_session_can_be_told_apart(inspector: Inspector) -> None:
    """Their long names differ in the end."""
    names = [f"claude-code/66c8c8c1-5701-4be1-8c78-84ef212e5d1b{end}" for end in ("", "~4", "~12")]
    for name in names:
        recorded(inspector.client.store, json.dumps(PAYLOAD).encode(), name)
    page = inspector.open("requests")
    for name in names[1:]:
        link = page.locator(f'a[title="{name}"]')
        expect(link).to_have_text(name)
        fork, cell = link.locator("span").last.bounding_box(), page.locator("td", has=link)
        box = cell.bounding_box()
        assert fork
        assert box
        assert fork["x"] + fork["width"] <= box["x"] + box["width"]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("curl", "curl "),
        pytest.param("python", "urllib", marks=pytest.mark.slow),
        pytest.param("test", "def test_request_1", marks=pytest.mark.slow),
    ],
)
def test_a_request_becomes_a_program(inspector: Inspector, kind: str, words: str) -> None:
    page = inspector.open("r/1")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name=f"copy {kind}").click()
    expect(page.locator("pre")).to_contain_text(words)
    expect(page.get_by_role("button", name="copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == inspector.client.call(f"/requests/1/export?as={kind}").body.decode()


def test_search_by_meaning_has_a_link(inspector: Inspector) -> None:
    page = inspector.open("?q=soup")
    page.get_by_role("button", name="meaning").click()
    expect(page.get_by_role("button", name="meaning")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("a.hit").first).to_be_visible()
    assert "by=meaning" in inspector.place
    page.go_back()
    expect(page.get_by_role("button", name="words")).to_have_attribute("aria-pressed", "true")


def test_recall_shows_what_speaks_for_each(inspector: Inspector) -> None:
    page = inspector.open("recall?q=Which soup does Alice like?")
    expect(page.locator(".reasons").first).to_contain_text(re.compile(r"words \\+|base"))
    page.get_by_text("The text that a model would get").click()
    expect(page.locator("details .whole")).not_to_be_empty()


def test_lists_go_by_keys(inspector: Inspector) -> None:
    page = inspector.open()
    expect(page.locator("a.row").first).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("a.row").first).to_be_focused()


@pytest.mark.slow
def test_nothing_moves_while_the_page_comes(browser: Browser, client: Client) -> None:
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = patient(context.new_page())
        page.add_init_script(
            """window.moved = 0;
            new PerformanceObserver((list) => {
              for (const one of list.getEntries()) window.moved += one.value;
            }).observe({ type: "layout-shift", buffered: true });"""
        )
        inspector = Inspector(page, client)
        inspector.flight(ID, model=MODEL, budget=BUDGET)
        page.wait_for_timeout(300)
        assert page.evaluate("window.moved") < 0.05


def test_dark_is_dark_before_the_script_comes(browser: Browser, client: Client) -> None:
    with browser.new_context(color_scheme="dark") as context:
        page = patient(context.new_page())
        page.route("**/main.js", lambda route: route.abort())
        page.goto(client.gateway.address)
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(19, 21, 25)"


@pytest.mark.slow
def test_those_who_listen_hear_one_sentence(inspector: Inspector) -> None:
    page = inspector.flight(ID, model=MODEL, budget=BUDGET)
    page.keyboard.press("Home")
    expect(page.get_by_role("status")).to_contain_text("Request 1:")
    assert page.title() == "Lunch · contextwright"
    expect(page.get_by_role("feed", name="Messages")).to_be_visible()
    expect(page.get_by_role("article", name="Message 1", exact=True)).to_be_visible()
    page.get_by_text("As a table").click()
    expect(page.get_by_role("columnheader", name="Break")).to_be_visible()


@pytest.mark.slow
def test_what_somebody_types_stays(inspector: Inspector) -> None:
    page = inspector.open("recall")
    page.get_by_label("Question").fill("Which")
    request(inspector.client, 4)
    filled(inspector.client.store, "elsewhere", rounds=1)
    page.wait_for_timeout(1_500)  # two looks at the store
    expect(page.get_by_label("Question")).to_have_value("Which")
