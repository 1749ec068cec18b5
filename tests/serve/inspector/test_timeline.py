"""The timeline in a real browser: branches, folds, ties, marks, and what comes while one looks."""

import re

import pytest
from playwright.sync_api import Page, expect

import contextwright as cw
from serve.api.client import ID, filled
from serve.inspector.pages import BUDGET, MODEL, Inspector

ANN, BOB = cw.Author("7", "Ann"), cw.Author("8", "Bob")


def lunch(inspector: Inspector, id: str) -> Page:
    """Open a conversation with everything that a message can have."""
    chat = inspector.client.store.conversation(id)
    image = cw.Media("image", "image/png", url="https://example.org/menu.png", name="menu.png")
    reply = cw.Reply("m1", BOB, "which soup is it today?")
    calls = [cw.ToolCall("read_menu", {"page": page}, f"c{page}") for page in (1, 2)]
    chat.add(
        [
            cw.user("Is there soup?", author=BOB),
            cw.user([cw.Text("Look."), image], author=ANN, reply_to=reply),
            cw.assistant([cw.Thinking("Three soups."), cw.Text("I look it up."), *calls]),
            cw.tool_result("c1", "Leek soup"),
            cw.tool_result("c2", "no such page", is_error=True),
            cw.assistant("Leek soup."),
            cw.user("Never mind.", author=ANN),
            cw.user("Forget it.", author=BOB),
        ]
    )
    chat.hide(7)
    chat.delete(8)
    return inspector.flight(id, model=MODEL)


def test_messages_show_what_they_are(inspector: Inspector) -> None:
    """CB-25: errors are marked, and nothing is fetched."""
    asked: list[str] = []
    inspector.page.on("request", lambda one: asked.append(one.url))
    page = lunch(inspector, "everything")
    row = {seq: page.locator(f'[data-seq="{seq}"]') for seq in range(1, 9)}
    expect(row[2]).to_contain_text("Bob: which soup is it today?")
    expect(row[2].locator(".marker")).to_have_text("image")
    expect(row[3]).to_contain_text("Thinking · Three soups.")
    expect(row[5]).to_contain_text("failed no such page")
    expect(row[7]).to_contain_text("hidden")
    expect(row[8]).to_contain_text("deleted")
    expect(page.get_by_text("Never mind.")).to_have_count(0)
    colours = [
        row[seq].locator(".who").evaluate("one => getComputedStyle(one).color") for seq in (1, 2)
    ]
    assert colours[0] != colours[1], "each of several people has a colour"
    assert not any("example.org" in url for url in asked), "media are never fetched"


def test_calls_lead_to_their_results_and_back(inspector: Inspector) -> None:
    """CB-25."""
    page = lunch(inspector, "ties")
    page.get_by_role("button", name="Its result is message 5").click()
    expect(page.get_by_label("Message 5", exact=True).locator("h2")).to_be_visible()
    page.get_by_role("button", name="Its call is message 3").last.click()
    panel = page.locator("section").and_(page.get_by_label("Message 3", exact=True))
    expect(panel).to_contain_text("read_menu")
    panel.get_by_text("Thinking").click()
    expect(panel.get_by_text("Three soups.")).to_be_visible()


def test_what_is_not_seen_is_folded(inspector: Inspector) -> None:
    """CB-25."""
    page = inspector.flight(ID, model=MODEL, budget=BUDGET)
    fold = page.locator(".fold")
    expect(fold).to_have_count(1)
    [run] = [run for run in inspector.built().decisions.runs if run.stop - run.start > 3][:1]
    expect(fold).to_contain_text(f"{run.stop - run.start} messages dropped")
    page.locator(".timeline").evaluate("box => box.scrollTop = 0")
    fold.click()
    expect(fold).to_have_count(0)
    expect(page.locator(f'[data-seq="{run.start + 1}"]')).to_be_visible()
    page.keyboard.press("o")
    expect(fold).to_have_count(0)
    page.keyboard.press("o")
    expect(fold).to_have_count(1)


def test_forks_are_branches(inspector: Inspector) -> None:
    store = inspector.client.store
    filled(store, "trunk", rounds=3)
    store.conversation("trunk").fork("branch", at=8).add(cw.user("And without soup?"))
    page = inspector.flight("trunk")
    page.get_by_role("link", name="fork after message 8 → branch").click()
    expect(page.get_by_text("And without soup?")).to_be_visible()
    page.get_by_role("link", name="forked here from → trunk").click()
    expect(page.locator(".title")).to_contain_text("12 messages")
    inspector.open()
    expect(page.get_by_role("link", name="fork of trunk after 8")).to_be_visible()


def test_the_break_stands_between_the_messages(inspector: Inspector) -> None:
    page = inspector.flight(ID, model=MODEL, budget=BUDGET)
    page.keyboard.press("Home")
    while "The cache broke" not in page.locator(".request-pane").inner_text():
        page.keyboard.press("b")
        inspector.wait()
    expect(page.locator(".between.broke")).to_contain_text(re.compile(r"as before up to here · \d"))
    expect(page.locator(".message .cache.again").first).to_be_visible()
    expect(page.locator(".reading .same")).to_contain_text("same up to here")


@pytest.mark.slow
def test_new_messages_do_not_move_the_old_ones(inspector: Inspector) -> None:
    store = inspector.client.store
    filled(store, "growing", rounds=12)
    page = inspector.flight("growing", at=3, message=3)
    expect(page.locator('[data-seq="3"]')).to_be_visible()
    top = page.locator(".timeline").evaluate("box => box.scrollTop")
    for number in range(60):  # more than the page remembers
        store.conversation("growing").add(cw.user(f"News {number}"))
    expect(page.locator(".title")).to_contain_text("108 messages")
    expect(page.get_by_role("button", name=re.compile("60 new messages"))).to_be_visible()
    assert page.locator(".timeline").evaluate("box => box.scrollTop") == top
    page.get_by_role("button", name=re.compile("60 new messages")).click()
    expect(page.get_by_text("News 59")).to_be_visible()
    store.conversation("growing").edit(108, cw.user("No news"))
    expect(page.get_by_text("No news")).to_be_visible()
