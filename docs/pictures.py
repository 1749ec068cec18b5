"""Make the pictures of the inspector: the demonstration, in light and dark, and as a short film.

uv run --with pillow python docs/pictures.py      # needs Chromium
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

FOLDER = Path(__file__).parent / "pictures"
SIZE = {"width": 1280, "height": 960}
FILM = {"width": 1000, "height": 750}


def main() -> int:
    """Make all pictures."""
    FOLDER.mkdir(exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with inspector() as link, sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        for scheme in ("light", "dark"):
            page = opened(browser, link, scheme, SIZE)
            page.keyboard.press("B")
            settle(page)
            page.screenshot(path=FOLDER / f"inspector-{scheme}.png")
        film(opened(browser, link, "light", FILM), FOLDER / "inspector.webp")
        browser.close()
    return 0


@contextmanager
def inspector() -> Iterator[str]:
    """The link of an inspector that shows the demonstration."""
    command = [sys.executable, "-m", "contextwright", "inspect", "--demo", "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(r"http://\S+", line):
                break
        else:
            raise SystemExit("cw inspect printed no link")
        try:
            yield found[0]
        finally:
            process.terminate()


def opened(browser: Browser, link: str, scheme: str, size: dict[str, int]) -> Page:
    """The page with everything drawn."""
    page = browser.new_page(viewport=size, color_scheme=scheme)  # pyright: ignore[reportArgumentType]
    page.goto(link)
    page.wait_for_selector("input[type=range]:not([disabled])", timeout=60_000)
    settle(page)
    return page


def settle(page: Page) -> None:
    """Wait until nothing is on its way any more."""
    expect(page.locator(".stale")).to_have_count(0, timeout=60_000)
    page.wait_for_timeout(400)


def film(page: Page, path: Path) -> None:
    """The cursor from the first request to the last, with a rest at each break of the cache."""
    from PIL import Image  # pyright: ignore[reportMissingImports]

    page.keyboard.press("Home")
    frames: list[tuple[bytes, int]] = []
    for _ in range(30):
        settle(page)
        broke = page.locator("h2", has_text="The cache broke").count() > 0
        frames.append((page.screenshot(), 900 if broke else 220))
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
    pictures = [Image.open(io.BytesIO(data)).convert("RGB") for data, _ in frames]
    durations = [duration for _, duration in frames]
    pictures[0].save(
        path,
        save_all=True,
        append_images=pictures[1:],
        duration=durations,
        loop=0,
        quality=55,
        method=6,
    )


if __name__ == "__main__":
    raise SystemExit(main())
