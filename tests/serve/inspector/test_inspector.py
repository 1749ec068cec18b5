"""The page in a real browser: the ways people use it."""

import json
import os
import re
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route, expect

import contextwright as cw
from contextwright.serve.api.routes import OPERATIONS
from contextwright.serve.http.api import PREFIX
from contextwright.serve.inspector import PAGE
from serve.api.client import ID, PAYLOAD, Client, filled, recorded
from serve.gateways import TOKEN
from serve.inspector.pages import BUDGET, MODEL, NO_CHROMIUM, Inspector, chromium, number


def test_chromium_is_there() -> None:
    """Where it is not, the tests that need it are skipped; in CI this one fails for them all."""
    if chromium() is None and ("CI" not in os.environ or os.geteuid() != 0):
        pytest.skip(NO_CHROMIUM)
    assert chromium()


def test_from_the_list_to_a_request(inspector: Inspector) -> None:
    page = inspector.open()
    expect(page.get_by_role("heading", name="Conversations")).to_be_visible()
    page.get_by_role("link", name="Lunch").click()
    inspector.wait()
    expect(page.get_by_role("heading", name="Lunch")).to_be_visible()
    expect(page.locator(".message").last).to_contain_text("Soup 11.")
    assert TOKEN not in page.url, "nobody shares a link with the token in it"


def test_the_numbers_are_those_of_the_library_and_add_up(inspector: Inspector) -> None:
    page = inspector.flight(ID, model=MODEL, budget=BUDGET, at=41)
    context = inspector.built(41)
    assert inspector.tokens == context.ledger.tokens
    parts = [
        number(text) for text in page.locator(".budget + .sums li > :last-child").all_inner_texts()
    ]
    assert sum(parts) == BUDGET + 1_024
    left_out = page.locator("h2:has-text('Not in the request') + .sums li > :last-child")
    dropped = len(context.decisions) - len(list(context.decisions.kept()))
    assert sum(map(number, left_out.all_inner_texts())) == dropped > 0


def test_the_slider_goes_back_in_time(inspector: Inspector) -> None:
    page = inspector.flight(ID, model=MODEL, budget=BUDGET)
    slider = page.get_by_label("Request", exact=True)
    slider.fill("3")
    expect(slider).to_have_attribute("aria-valuetext", "request 4, after message 7")
    expect(page.get_by_text("after message 7 ·")).to_be_visible()
    inspector.wait()
    context = inspector.built(7)
    assert inspector.tokens == context.ledger.tokens
    assert "at=7" in inspector.place


def test_keys(inspector: Inspector) -> None:
    page = inspector.flight(ID, model=MODEL, budget=BUDGET)
    slider = page.get_by_label("Request", exact=True)
    page.keyboard.press("Home")
    expect(slider).to_have_value("0")
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_value("1")
    page.keyboard.press("b")
    expect(
        page.get_by_role("heading", name=re.compile("The cache broke|Not cached"))
    ).to_be_visible()
    page.keyboard.press("End")
    inspector.wait()
    page.keyboard.press("k")
    expect(page.locator("article:focus")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name=re.compile(r"^Message \d+$"))).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("region", name=re.compile(r"^Message \d+$"))).to_have_count(0)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("question b")
    expect(page.get_by_label("Search messages")).to_have_value("question b")


@pytest.mark.slow
def test_two_moments_side_by_side(inspector: Inspector) -> None:
    page = inspector.flight(ID, model=MODEL, budget=BUDGET, at=41)
    page.keyboard.press("c")
    told = page.get_by_label("Comparison")
    expect(told).to_be_visible()
    comparison = inspector.built(41).compared_with(inspector.built(39))
    expect(told).to_contain_text(f"{comparison.shared:,}")
    if comparison.first_difference:
        expect(told).to_contain_text(comparison.cause)


@pytest.mark.slow
def test_another_recipe_beside_it(inspector: Inspector) -> None:
    page = inspector.flight(ID, model=MODEL, budget=BUDGET)
    page.get_by_role("combobox", name="Compare").select_option("recipe")
    page.get_by_role("combobox", name="With").select_option("port42")
    expect(page.get_by_label("Comparison")).to_contain_text("port42")
    expect(page.locator(".lanes")).to_contain_text("compared")


def test_controls_rebuild(inspector: Inspector) -> None:
    page = inspector.flight(ID, model=MODEL)
    before = inspector.tokens
    page.get_by_role("spinbutton", name="Budget").fill("900")
    page.get_by_role("spinbutton", name="Budget").press("Tab")
    expect(page.get_by_text("of 900", exact=True).first).to_be_visible()
    inspector.wait()
    assert inspector.tokens < before
    page.get_by_role("combobox", name="Format").select_option("gemini")
    expect(page.get_by_text("Payload · gemini")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("Payload · anthropic")).to_be_visible()


def test_the_payload_is_the_librarys(inspector: Inspector) -> None:
    page = inspector.flight(ID, model=MODEL, budget=BUDGET)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#copy-payload").click()
    expect(page.locator("#copy-payload")).to_have_text("copied")
    copied = page.evaluate("navigator.clipboard.readText().then(JSON.parse)")
    context = inspector.built()
    assert copied == context.payload


def test_new_messages_appear_by_themselves(inspector: Inspector) -> None:
    store = inspector.client.store
    filled(store, "live", rounds=2)
    page = inspector.flight("live")
    expect(page.locator(".title")).to_contain_text("8 messages")
    store.conversation("live").add(cw.user("Is anybody here?"))
    expect(page.locator(".title")).to_contain_text("9 messages")
    expect(page.get_by_text("Is anybody here?")).to_be_visible()


def test_what_came_while_nobody_listened_appears_too(inspector: Inspector) -> None:
    """The gateway was started again, or let a page go that fell behind."""
    store, page = inspector.client.store, inspector.page
    filled(store, "gap", rounds=2)
    listened: list[str] = []

    def once(route: Route) -> None:
        listened.append(route.request.url)
        if len(listened) == 1:
            route.fulfill(body=": listening\n\n", content_type="text/event-stream")
            return
        store.conversation("gap").add(cw.user("Is anybody here?"))
        route.continue_()

    page.route("**/api/v1/events", once)
    inspector.flight("gap")
    expect(page.get_by_text("Is anybody here?")).to_be_visible()
    assert len(listened) == 2


def test_hidden_words_are_not_shown(inspector: Inspector) -> None:
    store = inspector.client.store
    filled(store, "hidden", rounds=2)
    store.conversation("hidden").hide(5)
    page = inspector.flight("hidden")
    expect(page.locator('[data-seq="5"]')).to_contain_text("hidden")
    expect(page.get_by_text("Question 1: which soup?")).to_have_count(0)


def test_search_recall_and_requests(inspector: Inspector) -> None:
    page = inspector.open()
    page.get_by_label("Search messages").fill("which soup")
    page.keyboard.press("Enter")
    page.locator("a.hit").first.click()
    expect(page.get_by_role("region", name=re.compile(r"^Message \d+$"))).to_contain_text(
        "which soup?"
    )
    page.get_by_role("link", name="Recall").click()
    page.get_by_label("Question").fill("Which soup does Alice like?")
    page.get_by_role("button", name="Recall").click()
    expect(page.locator("table tbody tr").first).to_be_visible()
    page.get_by_role("link", name="Requests").click()
    page.get_by_role("link", name="1", exact=True).click()
    expect(page.get_by_role("heading", name="Request 1")).to_be_visible()
    page.locator(".tree summary", has_text="messages").click()
    page.locator(".tree summary", has_text="0:").click()
    expect(page.locator(".tree")).to_contain_text("Soup?")
    page.get_by_role("combobox", name="as").select_option("anthropic")
    expect(page.locator(".tree")).to_contain_text("max_tokens")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="copy python").click()
    expect(page.get_by_role("button", name="copied")).to_be_visible()
    assert "OPENAI_API_KEY" in page.evaluate("navigator.clipboard.readText()")


def test_two_recorded_requests_side_by_side(inspector: Inspector) -> None:
    body = {**PAYLOAD, "messages": [*PAYLOAD["messages"], {"role": "user", "content": "Tea?"}]}
    recorded(inspector.client.store, json.dumps(body).encode())
    page = inspector.open("requests")
    expect(page.get_by_role("img", name="Together")).to_be_visible()
    inspector.open("r/2?with=1")
    expect(page.get_by_label("Comparison")).to_contain_text("Compared with request 1")


def test_a_wrong_token_is_said(inspector: Inspector) -> None:
    page = inspector.page
    page.goto(f"{inspector.client.gateway.address}/#token=wrong")
    expect(page.get_by_role("alert")).to_contain_text("cw inspect")


@pytest.mark.parametrize(
    "width", [320, *(pytest.param(width, marks=pytest.mark.slow) for width in (390, 768))]
)
def test_nothing_scrolls_sideways(inspector: Inspector, width: int) -> None:
    inspector.page.set_viewport_size({"width": width, "height": 844})
    for view in ("", "requests", "recall?q=soup"):
        page = inspector.open(view)
        expect(page.locator("h1")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
    page = inspector.flight(ID, model=MODEL, budget=BUDGET)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Timeline").click()
    expect(page.locator(".message").first).to_be_visible()


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("light", 1280),
        pytest.param("dark", 390, marks=pytest.mark.slow),
        pytest.param("light", 390, marks=pytest.mark.slow),
        pytest.param("dark", 1280, marks=pytest.mark.slow),
    ],
)
def test_axe_finds_nothing(inspector: Inspector, scheme: str, width: int) -> None:
    inspector.page.set_viewport_size({"width": width, "height": 844})
    inspector.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    for view in ("", "requests", "r/1", "recall?q=soup"):
        page = inspector.open(view)
        expect(page.locator("h1")).to_be_visible()
        assert faults(page) == [], view
    assert faults(inspector.flight(ID, model=MODEL, budget=BUDGET, message=3)) == []


def faults(page: Page) -> list[str]:
    """The rules of axe-core that a page breaks."""
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {node['html'][:120]}" for one in found for node in one["nodes"]]


def test_dark_stays_dark(inspector: Inspector) -> None:
    page = inspector.open()
    page.get_by_label("Light or dark").click()
    chosen = page.evaluate("document.documentElement.dataset.theme")
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == chosen


@pytest.mark.slow
def test_only_the_documented_api_is_used(inspector: Inspector) -> None:
    asked: set[str] = set()
    page = inspector.page
    page.on("request", lambda request: asked.add(urlsplit(request.url).path))
    inspector.flight(ID, model=MODEL, message=2, **{"with": "recipe:port42"})
    for view in ("requests", "r/1?format=gemini", "recall?q=soup", "?q=soup"):
        inspector.open(view)
        expect(page.locator("h1")).to_be_visible()
    calls = {path for path in asked if path.startswith(PREFIX)}
    known = [re.sub(r"\{\w+\}", "[^/]+", one.path) for one in OPERATIONS if one.method == "GET"]
    assert calls
    for path in calls:
        assert any(re.fullmatch(PREFIX + pattern, path) for pattern in known), unquote(path)
    assert all(path == "/" or path.startswith(("/inspector/", PREFIX)) for path in asked)


def test_the_page_is_small_and_strict(client: Client) -> None:
    scripts = sum(path.stat().st_size for path in PAGE.rglob("*.js"))
    assert scripts < 100_000
    answer = client.gateway.ask("/", method="GET")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for path in PAGE.rglob("*.*"):
        text = path.read_bytes()
        if path.suffix in (".js", ".html", ".css") and path.parent.name != "vendor":
            assert b"innerHTML" not in text
            assert not re.search(rb"(src|href)=\"https?:|url\(https?:|import .*https?:", text), path
    assert client.gateway.ask("/inspector/../app.py", method="GET").status == 404
    assert client.gateway.ask("/inspector/%2e%2e/__init__.py", method="GET").status == 404
