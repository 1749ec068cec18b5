"""Convert, check, count, recall, memories, recipes, models and simulations over HTTP."""

import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

import contextwright as cw
from contextwright import formats
from contextwright.context import recipe_files
from contextwright.models import Models
from contextwright.recall.passages import passages_of
from samples.recall import LONG
from serve.api.client import ID, PAYLOAD, Client, of

BROKEN = {"model": "gpt-4o", "messages": [{"role": "tool", "tool_call_id": "x", "content": "?"}]}


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    return msgspec.json.decode(msgspec.json.encode(value))


@pytest.mark.parametrize("target", formats.NAMES)
def test_conversion_is_the_librarys(client: Client, target: str) -> None:
    found = client.call("/convert", {"data": PAYLOAD, "from": "openai-chat", "to": target}).json
    own = cw.convert(PAYLOAD, "openai-chat", target)
    assert found == {"payload": plain(own.payload), "changes": plain(own.changes)}
    detected = client.call("/convert", {"data": PAYLOAD, "to": target}).json
    assert detected == found


def test_options_and_strictness_are_passed_on(client: Client) -> None:
    body = {"data": BROKEN, "from": "openai-chat", "to": "openai-chat"}
    found = client.call("/convert", {**body, "options": {"repair": False}}).json
    own = cw.convert(BROKEN, "openai-chat", "openai-chat", repair=False)
    assert found["changes"] == plain(own.changes)
    assert client.call("/convert", {**body, "options": {"nothing": 1}}).status == 422
    assert client.call("/convert", {"data": {"x": 1}, "to": "gemini"}).status == 422


def test_checks_and_counts_are_the_librarys(client: Client) -> None:
    found = client.call("/check", {"payload": BROKEN, "model": "gpt-4o"}).json
    assert found["problems"] == plain(cw.check(BROKEN, "openai-chat", model="gpt-4o"))
    counted = client.call("/count", {"payload": PAYLOAD, "model": "gpt-4o"}).json
    own = cw.count(PAYLOAD, model="gpt-4o")
    assert counted == {"count": plain(own), "least": own.least, "most": own.most}
    assert client.call("/count", {"model": "gpt-4o"}).status == 422
    both = {"model": "gpt-4o", "text": "a", "payload": []}
    assert client.call("/count", both).status == 422


def test_recall_tells_why(client: Client) -> None:
    found = client.call("/recall?q=which%20soup%20does%20Alice%20like&limit=3&budget=300").json
    own = client.store.recall("which soup does Alice like", limit=3, budget=300)
    assert [(one["conversation"], one["seq"]) for one in found["hits"]] == [
        (one.conversation, one.seq) for one in own
    ]
    assert (found["text"], found["tokens"], found["by_meaning"]) == (own.text, own.tokens, False)
    assert found["hits"][0]["reasons"]
    client.store.conversation("garden").add(cw.user(LONG))
    (part,) = client.call("/recall?q=spare%20key&conversation=garden&budget=120").json["hits"]
    start, end = passages_of(LONG)[1]
    assert part["excerpt"] == {"parts": [2], "of": 3, "spans": [[start, end]]}
    assert client.call("/recall?q=soup&conversation=nobody").status == 404
    hits = client.call("/search?q=Alice&limit=2").json["hits"]
    assert hits == plain(client.store.search("Alice", limit=2))


def test_memories_are_added_changed_and_forgotten(client: Client) -> None:
    given = {"text": "Allergic to nuts.", "about": "U1", "kind": "fact", "key": "Allergy"}
    made = client.call("/memories", {**given, "at": "2026-11-16T08:00:00Z"}).json
    path = f"/memories/{made['id']}"
    assert made["memory"]["key"] == "Allergy"
    changed = client.call(path, {"text": "Allergic to milk.", "weight": 0.5}, method="PATCH").json
    assert changed["memory"]["text"] == "Allergic to milk."
    [stored] = client.call("/memories?about=U1").json["memories"]
    assert (stored["id"], stored["memory"]["weight"]) == (made["id"], 0.5)
    assert client.call(path, method="DELETE").status == 204
    assert client.call(path, method="DELETE").status == 404
    assert client.call("/memories?about=U1").json == {"memories": [], "next": None}
    for wrong in ({"text": "a\x00"}, {"text": "", "at": "soon"}, {"text": 3}):
        assert client.call("/memories", wrong).status == 422


def test_pages_hold_every_memory_once(client: Client) -> None:
    ids = [client.store.remember(f"Fact {n}", about="U2") for n in range(7)]
    seen, cursor = list[str](), 0
    while cursor is not None:
        page = client.call(f"/memories?about=U2&limit=3&cursor={cursor}").json
        seen += [one["id"] for one in page["memories"]]
        cursor = page["next"]
    assert seen == ids


def test_the_catalogue_is_the_packages(client: Client) -> None:
    names = [one["name"] for one in client.call("/recipes").json["recipes"]]
    assert names == list(recipe_files.SHIPPED)
    folder = Path(recipe_files.__file__).parents[1] / "data" / "recipes"
    for name in names:
        written = tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))
        assert client.call(f"/recipes/{name}").json == written
        built = client.call(f"{of()}/context?at=8&payload=false", {"recipe": written})
        assert built.status == 200
    assert client.call("/recipes/..%2Fmodels").status == 422
    assert [one["name"] for one in client.call("/formats").json["formats"]] == list(formats.NAMES)
    assert client.call("/models").json["models"] == plain(list(Models.shipped()))
    assert client.call("/models/gpt-4o").json == plain(Models.shipped().find("gpt-4o"))


def test_a_simulation_is_the_librarys(client: Client) -> None:
    body = {"conversation": ID, "recipes": ["default", "013"], "budget": 1_500}
    found = client.call("/simulate", body).json
    messages = [one.message for one in client.store.conversation(ID).read()]
    recipes = [recipe_files.find(name) for name in ("default", "013")]
    own = cw.simulate(messages, recipes, model="claude-sonnet-5-5", budget=1_500)
    assert [row["requests"] for row in found["rows"]] == [plain(row.requests) for row in own]
    assert [row["dollars"] for row in found["rows"]] == [row.dollars for row in own]
    assert client.call("/simulate", {"conversation": "nobody"}).status == 404
    assert client.call("/simulate", {"conversation": ID, "recipes": ["x.toml"]}).status == 422
