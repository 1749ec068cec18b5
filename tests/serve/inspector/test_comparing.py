"""Two requests side by side, and the places that changes and problems lead to."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from serve.api.client import ID, of
from serve.inspector.pages import BUDGET, MODEL, Inspector


def compared(page: Page, kind: str, value: str) -> None:
    """Choose what to compare with."""
    page.get_by_role("combobox", name="Compare").select_option(kind)
    if kind in ("at", "budget"):
        box = page.get_by_label({"at": "After message", "budget": "Tokens"}[kind], exact=True)
        box.fill(value)
        box.press("Tab")
    else:
        page.get_by_role("combobox", name="With").select_option(value)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("at", "3"),
        pytest.param("model", "gpt-4o", marks=pytest.mark.slow),
        pytest.param("recipe", "port42", marks=pytest.mark.slow),
        pytest.param("budget", "4000", marks=pytest.mark.slow),
        pytest.param("format", "gemini", marks=pytest.mark.slow),
        pytest.param("request", "1", marks=pytest.mark.slow),
    ],
)
def test_any_two_requests_stand_side_by_side(inspector: Inspector, kind: str, value: str) -> None:
    page = inspector.flight(ID, model=MODEL, budget=BUDGET)
    compared(page, kind, value)
    told = page.get_by_label("Comparison")
    expect(told).to_contain_text("tokens")
    query = f"model={MODEL}&budget={BUDGET}&with={kind}:{value}"
    found = inspector.client.call(f"{of()}/compare?{query}").json
    expect(told).to_contain_text(f"{found['shared']:,} tokens")
    expect(told).to_contain_text(found["cause"])
    expect(told).to_contain_text(f"byte {found['words']['byte']:,}")
    expect(told.locator("mark").first).to_have_text(found["words"]["this"])
    expect(told.locator("mark").last).to_have_text(found["words"]["other"])
    assert f"with={kind}%3A{value}" in inspector.place, "a link shows the same"
    page.get_by_label("Stop comparing").click()
    expect(told).to_have_count(0)


@pytest.mark.slow
def test_a_click_with_shift_compares_two_moments(inspector: Inspector) -> None:
    page = inspector.flight(ID, model=MODEL, budget=BUDGET)
    page.locator("canvas.seen").click(modifiers=["Shift"], position={"x": 4, "y": 4})
    expect(page.get_by_label("Comparison")).to_contain_text("after message 1")
    assert "with=at%3A1" in inspector.place


def test_a_problem_leads_to_its_place(inspector: Inspector) -> None:
    page = inspector.flight(ID, model=MODEL, budget=BUDGET)
    page.get_by_role("button", name="tools", exact=True).click()
    expect(page.locator(".tree")).to_be_visible()
    assert "part=payload&path=tools" in inspector.place


def test_a_place_in_a_payload_has_a_link(inspector: Inspector) -> None:
    page = inspector.flight(ID, model=MODEL, budget=BUDGET, part="payload", path="messages[2]")
    expect(page.locator(".tree .here > summary")).to_contain_text("2:")
    page.get_by_text("Payload · anthropic").click()
    expect(page.locator(".tree")).to_have_count(0)
    assert "part=" not in inspector.place


def test_a_message_tells_its_life_and_leads_to_its_moment(inspector: Inspector) -> None:
    page = inspector.flight(ID, model=MODEL, budget=BUDGET, message=5)
    panel = page.locator("section").and_(page.get_by_label("Message 5", exact=True))
    expect(panel).to_contain_text(re.compile(r"kept from request \d+, dropped from request \d+"))
    panel.get_by_role("button", name="what was seen after it").click()
    expect(page.get_by_label("The request", exact=True)).to_contain_text("after message 5")
    inspector.wait()
    assert inspector.tokens == inspector.built(5).ledger.tokens


def test_a_budget_too_small_names_one_that_works(inspector: Inspector) -> None:
    page = inspector.open(f"c/{quote(ID, safe='')}?model={MODEL}&budget=5")
    smallest = page.get_by_role("button", name=re.compile("the smallest that works"))
    minimum = inspector.client.call(f"{of()}/context?model={MODEL}&budget=5").json["error"][
        "minimum"
    ]
    expect(smallest).to_contain_text(str(minimum))
    smallest.click()
    expect(page.get_by_text(f"tokens of {minimum}")).to_be_visible()
