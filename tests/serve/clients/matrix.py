"""Write the table of clients and upstreams from a run of their tests.

    pytest -m slow tests/serve/clients --junitxml=run.xml
    python tests/serve/clients/matrix.py run.xml … > docs/clients.md

Of several runs of one cell the last counts.
"""

import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).parents[2]))

from serve.clients.install import PACKAGES
from serve.clients.table import CLIENTS, Client
from serve.upstreams import FORMATS

SDKS = {"anthropic": "anthropic", "gemini": "google-genai"}
VENDORS = {
    "anthropic": "anthropic",
    "gemini": "google",
    "openai-chat": "openai",
    "openai-responses": "openai",
}
PAGE = """\
# Clients that work with the gateway

Each cell is a run of the client itself, through `cw serve`, to an upstream that refuses what \
the provider refuses. The model thinks, calls one tool twice at once, and answers; the client \
asks again, gets status 429 once, and then its second answer. A cell passes if the client shows \
both answers, the upstream finds nothing wrong in any request, each result is with its own call, \
and every signature comes back.

**=** same API on both sides, the bytes pass through · **✓** translated · **✗** does not pass · \
**–** not run

{table}
{notes}
`tests/serve/clients/matrix.py` makes this page from a run of `tests/serve/clients`; \
`install.py` beside it has all versions.
"""


def main(files: list[str]) -> None:
    outcomes: dict[str, str] = {}
    for file in files:
        outcomes.update(outcomes_in(Path(file)))
    titles = ("client", "version", "speaks", *(f"to {format}" for format in FORMATS))
    rows = [titles, ("---",) * len(titles), *(row(client, outcomes) for client in CLIENTS)]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
    notes = [
        f"\n{client.name} to {upstream}: {reason}; a route with `mend = true` sends it right.\n"
        for client in CLIENTS
        for upstream, reason in client.mended.items()
    ]
    print(PAGE.format(table=table, notes="".join(notes)), end="")


def outcomes_in(file: Path) -> Iterator[tuple[str, str]]:
    """The cells of a run, by the names of their tests."""
    for case in ElementTree.parse(file).iter("testcase"):
        name = case.get("name", "").partition("[")[2].rstrip("]")
        skipped = case.find("skipped")
        if skipped is not None:
            yield name, "–"
        else:
            failed = case.find("failure") is not None or case.find("error") is not None
            yield name, "✗" if failed else "✓"


def row(client: Client, outcomes: dict[str, str]) -> tuple[str, ...]:
    def cell(upstream: str) -> str:
        outcome = outcomes.get(f"{client.slug}-{client.format}-to-{upstream}", "–")
        same = upstream == client.format and upstream not in client.mended
        return "=" if outcome == "✓" and same else outcome

    return client.name, version_of(client), client.format, *map(cell, FORMATS)


def version_of(client: Client) -> str:
    if not client.package:
        name = SDKS.get(client.format, "openai")
        return f"{name} {version(name)}"
    pinned = PACKAGES[client.package]
    own = [package for package in pinned if VENDORS[client.format] in package]
    chosen = own[0] if client.package == "langchain" else pinned[0]
    return chosen.replace("==", "@").rpartition("@")[2]


if __name__ == "__main__":
    main(sys.argv[1:])
