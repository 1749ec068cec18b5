"""One cell of the table: a client, the gateway, an upstream; what went wrong."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from providers.standin import KEY, serving
from serve.clients.script import ANSWERS, Script
from serve.clients.table import Client
from serve.gateways import TOKEN, running
from serve.upstreams import ENVIRONMENT, open_settings, settings_for

PROGRAMS = Path(__file__).parent / "programs"
SECONDS = 280


def installed(client: Client) -> bool:
    """Whether a client is in the folder named by `CONTEXTWRIGHT_CLIENTS`."""
    return not client.package or (clients_folder() / client.package).is_dir()


def clients_folder() -> Path:
    return Path(os.environ.get("CONTEXTWRIGHT_CLIENTS", "/nowhere"))


def findings(client: Client, upstream: str, folder: Path) -> list[str]:
    """Ask twice through a gateway; return what went wrong."""
    script = Script(client)
    with serving(script) as server:
        script.server = server
        same = client.format == upstream and upstream not in client.mended
        settings = open_settings(upstream, server) if same else settings_for(upstream, server)
        with running(settings, environment=ENVIRONMENT) as gateway:
            found = list(run(client, gateway.address, KEY if same else TOKEN, folder))
        return [*found, *script.findings()]


def nothing() -> None:
    """Do nothing."""


def run(
    client: Client, address: str, key: str, folder: Path, between: Callable[[], None] = nothing
) -> Iterator[str]:
    """Run the commands of a client in a home and a folder of its own; `between` is done between."""
    home, work = folder / "home", folder / "work"
    work.mkdir(parents=True)
    home.mkdir()

    def filled(text: str) -> str:
        return text.replace("{address}", address).replace("{key}", key)

    for name, text in client.files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(filled(text))
    place = clients_folder() / client.package
    paths = [
        place / "node_modules" / ".bin",
        place / "node_modules" / "node" / "bin",
        place / "bin",
    ]
    if not client.package:
        paths = [Path(sys.executable).parent]
    if client.program:
        shutil.copy(PROGRAMS / client.program, work)
        if (place / "node_modules").is_dir():
            (work / "node_modules").symlink_to(place / "node_modules")
    environment = {
        "PATH": os.pathsep.join([*map(str, paths), os.environ["PATH"]]),
        "HOME": str(home),
        **{name: filled(value) for name, value in client.environment.items()},
    }
    subprocess.run(["git", "init", "-q"], cwd=work, env=environment, check=True)
    said = ""
    for number, command in enumerate(client.commands):
        if number:
            between()
        done = subprocess.run(
            [filled(word) for word in command],
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            text=True,
        )
        said += done.stdout
        if done.returncode:
            yield f"exit code {done.returncode}: {done.stderr[-2_000:]}{done.stdout[-1_000:]}"
    for answer in ANSWERS.values():
        if answer not in said:
            yield f"the client does not show {answer!r}"
