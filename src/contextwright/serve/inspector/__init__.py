"""The inspector: a page that shows what the model saw, from files beside this one."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

__all__ = ["PAGE", "page_routes"]

PAGE = Path(__file__).parent / "page"
HEADERS = {
    # Content of conversations is hostile: the page runs its own scripts only, and loads nothing.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
        "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
}
SETTLED = (".svg", ".woff2")
"""Files that hardly ever change, so that a browser need not ask for them again and again."""


class Page(StaticFiles):
    """The files of the page, each with the headers that keep it to itself."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send a file."""
        response = await self.get_response(self.get_path(scope), scope)
        response.headers.update(HEADERS)
        if scope["path"].endswith(SETTLED):
            response.headers["cache-control"] = "max-age=86400"
        await response(scope, receive, send)


async def index(_: Request) -> Response:
    """Return the page itself."""
    return FileResponse(PAGE / "index.html", headers=HEADERS)


def page_routes() -> list[BaseRoute]:
    """Return the routes of the page, which needs no token: the API that it asks does."""
    return [Route("/", index), Mount("/inspector", Page(directory=PAGE))]
