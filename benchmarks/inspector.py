"""How fast the inspector opens, rebuilds and scrolls a conversation of many messages.

python benchmarks/inspector.py                     # needs Chromium
python benchmarks/inspector.py --messages 100000
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter

from playwright.sync_api import Page, expect, sync_playwright

import contextwright as cw
from contextwright.store import Store

ID = "long"
SCROLL = """() => new Promise((done) => {
  const box = document.querySelector(".timeline"), frames = [];
  let before = performance.now();
  const next = (now) => {
    frames.push(now - before);
    before = now;
    box.scrollTop += 900;
    if (frames.length < 200) requestAnimationFrame(next); else done(frames.slice(1));
  };
  box.scrollTop = 0;
  requestAnimationFrame(next);
})"""
"""Scroll by 900 pixels in each of 200 frames, and return the milliseconds between them."""

REBUILD = """([change, words]) => new Promise((done) => {
  const began = performance.now();
  const look = () => {
    const drawn = document.querySelector(".request-pane")?.innerHTML.includes(words);
    if (drawn && !document.querySelector(".request-pane .stale")) done(performance.now() - began);
    else requestAnimationFrame(look);
  };
  if (change.key) dispatchEvent(new KeyboardEvent("keydown", change));
  else location.hash = location.hash.replace(/budget=\\d+/, `budget=${change.budget}`);
  requestAnimationFrame(look);
})"""
"""Press a key or set a budget, and return the milliseconds until the page shows its request."""


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--messages", type=int, default=100_000)
    given = options.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "long.db"
        fill(path, given.messages)
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        with inspector(path) as link:
            for _ in range(3):
                measure(browser.new_page(viewport={"width": 1280, "height": 900}), link)
        browser.close()
    return 0


def fill(path: Path, messages: int) -> None:
    """Store a conversation of questions, calls, results and answers."""
    with Store(path, embedder=None) as store:
        chat = store.conversation(ID)
        for start in range(0, messages, 4_000):
            chat.add(
                [
                    message
                    for number in range(start, min(start + 4_000, messages), 4)
                    for message in (
                        cw.user(f"Question {number}: which of them is the largest?", author="Ann"),
                        cw.assistant(cw.ToolCall("look", {"page": number}, f"c{number}")),
                        cw.tool_result(f"c{number}", f"Row {number}. " * (number % 40)),
                        cw.assistant(f"Number {number}, as far as I can see from here."),
                    )
                ]
            )


@contextmanager
def inspector(path: Path) -> Iterator[str]:
    """The link of an inspector of a store."""
    command = [
        sys.executable,
        "-m",
        "contextwright",
        "inspect",
        str(path),
        "--no-browser",
        "-c",
        ID,
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield next(
                found[0] for line in process.stderr if (found := re.search(r"http://\S+", line))
            )
        finally:
            process.terminate()


def measure(page: Page, link: str) -> None:
    """Print what one visit takes."""
    began = perf_counter()
    page.goto(link.replace("token=", "model=claude-sonnet-5-5&budget=20000&token="))
    page.wait_for_selector(".message .who", timeout=60_000)
    opened = perf_counter() - began
    page.wait_for_selector(".request-pane .bigs", timeout=60_000)
    context = perf_counter() - began
    page.wait_for_selector("input[type=range]:not([disabled])", timeout=60_000)
    flight = perf_counter() - began
    rebuilt = [
        page.evaluate(REBUILD, [{"budget": budget}, f"of {budget:,} tokens"])
        for budget in (30_000, 8_000, 4_000, 12_000, 20_000)
    ]
    moved = page.evaluate(REBUILD, [{"key": "Home"}, "Request 1"])
    page.keyboard.press("o")  # unfold what the model does not see
    expect(page.locator(".fold")).to_have_count(0)
    frames = page.evaluate(SCROLL)
    rows = page.locator(".message").count()
    print(
        f"messages after {opened:.2f} s, context {context:.2f} s, map {flight:.2f} s; "
        f"another budget in {median(rebuilt):.0f} ms, another request in {moved:.0f} ms; "
        f"frames of {median(frames):.1f} ms, p95 {quantiles(frames, n=20)[-1]:.1f} ms; "
        f"{rows} rows in the page"
    )


if __name__ == "__main__":
    raise SystemExit(main())
