"""The HTTP API: a turn goes in, a request with its receipt comes out."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen


def call(address: str, token: str, path: str, body: Any = None) -> Any:
    """Call the API, with the token that `cw serve` made."""
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"{address}/api/v1{path}", data, headers)) as answer:
        return json.load(answer)


def talk(address: str, key: str) -> None:
    """Store a turn twice, and build a request."""
    chat = f"/conversations/{quote('lunch/monday', safe='')}"
    turn = {
        "key": "first",
        "messages": [
            {"role": "user", "name": "olena", "content": "Suggest lunch options please."},
            {"role": "assistant", "content": "Soup, salad or risotto?"},
            {"role": "user", "name": "olena", "content": "Risotto."},
        ],
    }
    print(call(address, key, f"{chat}/turns", turn)["seq"])
    print(call(address, key, f"{chat}/turns", turn)["seq"], "again: stored once")

    context = call(address, key, f"{chat}/context?model=gpt-5.6-sol&budget=200")
    print(json.dumps(context["payload"]["messages"], indent=1))
    for run in context["runs"]:
        print(run["first"], run["last"], run["action"], run["reason"], run["tokens"])
    print(context["ledger"]["tokens"], "of", context["ledger"]["budget"], "tokens")


with tempfile.TemporaryDirectory() as folder:
    token = Path(folder, "token")
    serve = [sys.executable, "-m", "contextwright", "serve", "--port", "0"]
    serve += ["--store", f"{folder}/chat.db", "--token-file", str(token)]
    with subprocess.Popen(serve, stderr=subprocess.PIPE, encoding="utf-8") as server:
        assert server.stderr
        try:
            line = server.stderr.readline()
            address = next((word for word in line.split() if "://" in word), None)
            if address is None:  # it could not start, and says why
                sys.exit(line.strip())
            talk(address, token.read_text().strip())
        finally:
            server.terminate()
