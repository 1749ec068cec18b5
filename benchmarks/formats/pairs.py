"""Every client API behind every upstream API, through `cw serve` and through LiteLLM's proxy.

    uv run python -m benchmarks.formats.pairs
    uv run --group peers python -m benchmarks.formats.pairs --peers [--environments FOLDER]

The clients are the vendors' own SDKs. The upstream is the stand-in of the tests, which knows what
the provider refuses, and every signature that it gave out; here it notes a fault and answers all
the same, so that one fault does not hide the next. Each pair of APIs has the same dialogues, whole
and streamed:

- a question, whose answer says which tokens it took;
- a turn in which the model thinks, signs that, and calls one tool twice at once, and a second turn;
- a question that is refused with status 429 and a time to wait.

`--peers` installs LiteLLM's proxy into an environment of its own, which is kept, and runs it with
`drop_params` and `modify_params`, without which it refuses some of the requests. Nothing is sent
anywhere but to the package index.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

import contextwright as cw
from contextwright.formats.replies.events import ReplyError, Usage

from ..contenders.environments import ENVIRONMENTS, environment
from ..gateway import Server, free_port, started

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from providers.standin import KEY, StandIn, said, serving
from serve.clients.programs.vendors import SDKS
from serve.clients.script import ANSWERS, Script
from serve.clients.table import sdk
from serve.sdks import ask
from serve.upstreams import FORMATS, HOSTS, MODELS

TOKEN = "sk-token-of-the-gateway"
ANSWER = "The answer is 42."
USAGE = Usage(1_000, 50, cached=600)
BUSY = ReplyError("rate_limit", "Slow down", 429, retry_after=7)
ENVIRONMENT = {
    "UPSTREAM_KEY": KEY,
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "GOOGLE_GENAI_API_VERSION": "v1beta",  # LiteLLM has no route for the v1 of Google's SDK
}
JUDGED = {
    "complete": "dialogues that end with their answers",
    "accepted": "dialogues in which the upstream refuses nothing",
    "results": "tool turns whose results stand with their own calls",
    "signatures": "signatures that come back",
    "usage": "answers with the tokens they took",
    "status": "refusals with status 429",
    "retry-after": "refusals with the time to wait",
}


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--peers", action="store_true", help="LiteLLM's proxy too")
    options.add_argument("--environments", type=Path, default=ENVIRONMENTS)
    given = options.parse_args()
    os.environ |= ENVIRONMENT
    gateways: dict[str, Start] = {"contextwright": cw_serve}
    if given.peers:
        program = environment("litellm-proxy", given.environments.resolve()).parent
        gateways[f"LiteLLM {version_of(program / 'python')}"] = litellm_at(program)
    cells: Cells = {}
    for upstream in FORMATS:
        for name, start in gateways.items():
            with tempfile.TemporaryDirectory() as folder, serving() as server:
                server.lenient = True  # one fault shall not hide the next
                with start(upstream, server, Path(folder)) as gateway:
                    for client in FORMATS:
                        key = KEY if client == upstream and start is cw_serve else TOKEN
                        cell = Cell(client, server, gateway.address, key)
                        cell.run()
                        cells.setdefault((client, upstream), {})[name] = cell
                        print(f"{name}: {client} → {upstream}", file=sys.stderr, flush=True)
    print_pairs(cells, tuple(gateways))
    return 0


# --- what is asked ---------------------------------------------------------------------------


class Cell:
    """A client's API behind an upstream, and what was seen there."""

    def __init__(self, client: str, server: StandIn, address: str, key: str) -> None:
        self.client, self.server = client, server
        self.address, self.key = address, key
        self.held, self.tried = Counter[str](), Counter[str]()
        self.faults: dict[str, dict[str, str]] = {}
        """What failed, whole or streamed, and why."""

    def run(self) -> None:
        for way in ("whole", "streamed"):
            for dialogue in (self.ask_one, self.call_tools, self.wait):
                self.server.bodies.clear()
                self.server.refused.clear()
                dialogue(way)

    def judge(self, way: str, what: str, held: int, tried: int = 1, why: str = "") -> None:
        self.held[what] += held
        self.tried[what] += tried
        if held < tried:
            self.faults.setdefault(what, {})[way] = line(why)

    def ask_one(self, way: str) -> None:
        """A question: the answer arrives, and what it cost."""
        self.server.answers = [replace(said(ANSWER), usage=USAGE)]
        text = usage = None
        why = ""
        try:
            reply = self.sent(way)
            text, usage = reply.message.text.strip(), reply.usage
        except Exception as error:  # a gateway may fail in any way: that is the finding
            why = repr(error)
        self.judge(way, "complete", text == ANSWER, why=why or f"answered {text!r}")
        self.judge(way, "accepted", not self.server.refused, why=self.refusal)
        found = usage and (usage.input, usage.output, usage.cached)
        expected = (USAGE.input, USAGE.output, USAGE.cached)
        self.judge(way, "usage", found == expected, why=f"{found}, not {expected}")

    def call_tools(self, way: str) -> None:
        """Two turns; in the first one tool is called twice at once."""
        script = Script(sdk(self.client)._replace(refused_once=False))
        script.server = self.server
        self.server.answers = [script]
        self.server.signed.clear()
        self.server.returned.clear()
        model = MODELS[self.client]
        turns = [(question, way == "streamed") for question in ANSWERS]
        told: list[str] = []
        why = ""
        try:
            told += SDKS[self.client](self.address, self.key, model, turns)
        except Exception as error:  # as above
            why = repr(error)
        # Google's SDK gives what came before the calls too.
        done = len(told) == 2 and all(map(str.endswith, map(str.strip, told), ANSWERS.values()))
        own = done and not script.mixed_up
        given = set(self.server.signed)
        back = given & self.server.returned
        self.judge(way, "complete", done, why=why or f"answered {told}")
        self.judge(way, "accepted", not self.server.refused, why=self.refusal)
        self.judge(way, "results", own, why="; ".join(script.mixed_up) or "not complete")
        self.judge(way, "signatures", len(back), len(given))

    def wait(self, way: str) -> None:
        """A question for which the upstream has no room."""
        self.server.answers = [BUSY]
        response: Any = None
        why = "answered"
        try:
            self.sent(way)
        except Exception as error:  # as above
            why = repr(error)
            response = getattr(error, "response", None)
        status = getattr(response, "status_code", None)
        wait = response.headers.get("retry-after") if response is not None else None
        self.judge(way, "status", status == BUSY.status, why=f"{status}: {why}")
        self.judge(way, "retry-after", wait == f"{BUSY.retry_after:g}", why=wait or "")

    def sent(self, way: str) -> Any:
        """The answer to one question."""
        model, streams = MODELS[self.client], way == "streamed"
        body = cw.render([cw.user("What is the answer?")], self.client, model=model).payload
        if self.client == "openai-chat" and streams:
            body["stream_options"] = {"include_usage": True}
        return ask(self.client, self.address, body, key=self.key, model=model, streams=streams)

    @property
    def refusal(self) -> str:
        return next(iter(self.server.refused), "")


def line(text: str) -> str:
    """A text cut to what a line has room for."""
    text = " ".join(text.split())
    return text if len(text) <= 200 else f"{text[:199]}…"


Cells = dict[tuple[str, str], dict[str, Cell]]


# --- the gateways ----------------------------------------------------------------------------

Start = Callable[[str, StandIn, Path], AbstractContextManager[Server]]


def cw_serve(upstream: str, server: StandIn, folder: Path) -> AbstractContextManager[Server]:
    """Clients of the upstream's API pass through with their key; all others are translated."""
    name, base = HOSTS.get(upstream, upstream), server.base_url(upstream)
    own = "openai" if upstream.startswith("openai") else upstream
    rows = [
        {"model": "*", "api": upstream, "upstream": own, "base_url": base},
        {"model": "*", "upstream": name, "base_url": base, "send_as": MODELS[upstream],
         "key_variable": "UPSTREAM_KEY"},
    ]  # fmt: skip
    text = "".join(
        "[[routes]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in row.items())
        for row in rows
    )
    (folder / "routes.toml").write_text(text)
    (folder / "token").write_text(TOKEN)
    port = free_port()
    command = [sys.executable, "-m", "contextwright", "serve", "--port", str(port)]
    command += ["--routes", str(folder / "routes.toml"), "--token-file", str(folder / "token")]
    return started(([*command, "--store", str(folder / "store.db")], port), "/health")


NAMES = {
    "openai-chat": "hosted_vllm/",
    "openai-responses": "openai/responses/",
    "anthropic": "anthropic/",
    "gemini": "gemini/",
}
"""What makes LiteLLM speak an API. Under `openai/` it would send many requests to Responses."""


def litellm_at(program: Path) -> Start:
    """LiteLLM's proxy, which tries once, as ours does. Its settings are in JSON, which is YAML."""

    def start(upstream: str, server: StandIn, folder: Path) -> AbstractContextManager[Server]:
        to = {
            "model": NAMES[upstream] + MODELS[upstream],
            "api_base": server.base_url(upstream),
            "api_key": KEY,
        }
        models = [{"model_name": name, "litellm_params": to} for name in set(MODELS.values())]
        settings = {
            "model_list": models,
            "litellm_settings": {"drop_params": True, "modify_params": True},
            "router_settings": {"num_retries": 0, "disable_cooldowns": True},
            "general_settings": {"master_key": TOKEN},
        }
        (folder / "config.yaml").write_text(json.dumps(settings))
        port = free_port()
        command = [str(program / "litellm"), "--config", str(folder / "config.yaml")]
        return started(
            ([*command, "--host", "127.0.0.1", "--port", str(port)], port), "/health/liveliness"
        )

    return start


def version_of(python: Path) -> str:
    code = "from importlib.metadata import version; print(version('litellm'))"
    done = subprocess.run([python, "-c", code], capture_output=True, check=True, text=True)
    return done.stdout.strip()


# --- what is printed -------------------------------------------------------------------------


def print_pairs(cells: Cells, gateways: tuple[str, ...]) -> None:
    """What fails in each pair, the sums, and the reasons."""
    print_row("client", "upstream", *gateways)
    print_row(*["---"] * (2 + len(gateways)))
    for pair, by in sorted(cells.items()):
        print_row(*pair, *(failing(by[name]) for name in gateways))
    print()
    print_row("what holds", *gateways)
    print_row(*["---"] * (1 + len(gateways)))
    clean = (sum(not by[name].faults for by in cells.values()) for name in gateways)
    print_row("pairs without a fault", *(f"{count} of {len(cells)}" for count in clean))
    for what, title in JUDGED.items():
        held = (sum(by[name].held[what] for by in cells.values()) for name in gateways)
        tried = (sum(by[name].tried[what] for by in cells.values()) for name in gateways)
        print_row(title, *(f"{one} of {all}" for one, all in zip(held, tried, strict=True)))
    print()
    for pair, by in sorted(cells.items()):
        for name in gateways:
            for what, ways in by[name].faults.items():
                for way, why in ways.items():
                    if why:
                        print(f"{name}, {' → '.join(pair)}, {way}, {what}: {why}")


def print_row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |")


def failing(cell: Cell) -> str:
    """What does not hold in a pair; whole and streamed, unless one of them is named."""
    named = (
        what if len(ways) == 2 else f"{what} ({next(iter(ways))})"
        for what, ways in sorted(cell.faults.items(), key=lambda one: list(JUDGED).index(one[0]))
    )
    return ", ".join(named) or "✓"


if __name__ == "__main__":
    raise SystemExit(main())
