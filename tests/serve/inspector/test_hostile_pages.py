"""Whatever people write, the page shows it as text: nothing runs, loads or breaks."""

import pytest
from playwright.sync_api import expect

import contextwright as cw
from contextwright.errors import ContextwrightError
from contextwright.store import Store
from samples.hostile import OWN
from serve.inspector.pages import Inspector

MARKUP = (
    "<script>window.forged = 1</script>",
    "<img src=x onerror='window.forged = 1'>",
    "<svg onload='window.forged = 1'>",
    '"><script src="https://example.org/x.js"></script>',
    "<style>* { display: none }</style>",
    "<iframe srcdoc='<script>parent.forged = 1</script>'></iframe>",
    "<a href='javascript:window.forged = 1'>x</a>",
    "javascript:window.forged=1",
    "${window.forged = 1}`${window.forged = 1}`",
    "</title></head><body onload=alert(1)>",
    "<link rel=stylesheet href=https://example.org/x.css>",
    "W" * 5_000,
    "\u202e\u2066\u0300" * 200,
)


def hostile(store: Store) -> list[str]:
    """Store every word in every place that takes it; return the conversations."""
    ids: list[str] = []
    words = [*MARKUP, *OWN]
    for start in range(0, len(words), 12):
        id = f"{words[start][:60]} {start}"
        for word in words[start : start + 12]:
            try:
                fill(store, id, word)
            except ContextwrightError:
                id = f"hostile {start}"
                fill(store, id, word.encode("utf-8", "replace").decode().replace("\x00", ""))
            if id not in ids:
                ids.append(id)
    return ids


def fill(store: Store, id: str, word: str) -> None:
    chat = store.conversation(id)
    author = cw.Author("7", word[:200] or "x", username=word[:100] or "x")
    media = cw.Media("image", "image/png", url=f"https://example.org/{word[:40]}", name=word)
    chat.add(
        [
            cw.user([cw.Text(word), media], author=author),
            cw.assistant([cw.Thinking(word), cw.ToolCall(word[:60] or "x", {word: word}, "c")]),
            cw.tool_result("c", word, is_error=True),
            cw.assistant(word),
        ]
    )
    chat.update(title=word)


@pytest.mark.slow
def test_words_stay_words(inspector: Inspector) -> None:
    """CB-25."""
    page = inspector.page
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.on("dialog", lambda dialog: asked.append(f"dialog {dialog.message}"))
    ids = hostile(inspector.client.store)
    assert len(ids) > 5
    inspector.open()
    expect(page.locator("a.row").first).to_be_visible()
    for id in ids:
        inspector.flight(id, message=1)
        expect(page.locator(".message").first).to_be_visible()
        page.get_by_text("Payload ·").click()
        expect(page.locator(".tree").first).to_be_visible()
        assert page.evaluate("window.forged") is None, id
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280, id
        assert page.locator("main script, main iframe, main style, main svg").count() == 0
    host = inspector.client.gateway.address
    assert [one for one in asked if not one.startswith(f"{host}/")] == []
