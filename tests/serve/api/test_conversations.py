"""Conversations over HTTP: lists, pages, names, searches."""

from pathlib import Path
from urllib.parse import quote

import pytest

import contextwright as cw
from contextwright.serve.api import conversations
from contextwright.store import Store
from serve.api.client import ID, Client, filled, of
from serve.gateways import running

NAMES = (
    ".",
    "..",
    "~.",
    "~~..",
    "~",
    "a/b",
    "/",
    "//etc/passwd",
    "../../etc/passwd",
    "..\\..",
    "%2e%2e",
    "?q=1#x",
    "a b+c",
    "Обід",
    "👩‍🍳 soup",
    "<script>alert(1)</script>",
    "'; DROP TABLE messages; --",
    "conversations",
    "x" * 256,
)


def segment(name: str) -> str:
    """A name as one step of a path: dots alone get a tilde, because browsers resolve them."""
    dots = name.lstrip("~") in (".", "..")
    return quote(f"~{name}" if dots else name, safe="")


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_a_name_and_never_a_path(client: Client, name: str) -> None:
    path = f"/conversations/{segment(name)}"
    turn = {"messages": [{"role": "user", "content": f"I am {name}"}], "key": "one"}
    assert client.call(f"{path}/turns", turn).json == {"seq": [1], "changes": []}
    found = client.call(path).json
    assert (found["id"], found["messages"], found["opening"]) == (name, 1, f"I am {name}"[:120])
    assert client.store.conversation(name).read().__next__().message.text == f"I am {name}"
    assert client.call(path, method="DELETE").status == 204
    assert client.call(path).status == 404


@pytest.mark.parametrize("name", ["a\nb", "\x00", "a\u202eb", "x" * 257])
def test_names_that_no_store_takes_are_refused(client: Client, name: str) -> None:
    turn = {"messages": [{"role": "user", "content": "Hi"}]}
    assert client.call(f"/conversations/{segment(name)}/turns", turn).status == 422


@pytest.mark.parametrize("few", [0, 50], ids=["together", "one by one"])
def test_pages_hold_every_conversation_once(
    tmp_path: Path, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, "FEW", few)
    with Store(tmp_path / "store.db", embedder=None) as store:
        times = [f"2026-11-{day:02}T12:00:00Z" for day in (3, 1, 2, 2, 5, 4)]
        for number, time in enumerate(times):
            message = cw.Message("user", (cw.Text("Hi"),), sent_at=time)
            store.conversation(f"chat {number}").add(message)
        store.conversation("chat 0").fork("fork")
        with running(store=store) as gateway:
            client = Client(gateway, store)
            seen, cursor = list[str](), ""
            while cursor is not None:
                page = client.call(f"/conversations?limit=2&cursor={quote(cursor)}").json
                assert page["total"] == 7
                seen += [one["id"] for one in page["conversations"]]
                cursor = page["next"]
    assert seen == ["chat 4", "chat 5", "fork", "chat 0", "chat 3", "chat 2", "chat 1"]


def test_a_list_tells_who_spoke_and_of_what(client: Client) -> None:
    [found] = [
        one for one in client.call("/conversations").json["conversations"] if one["id"] == ID
    ]
    info = client.store.conversation(ID).details()
    assert found["title"] == "Lunch"
    assert found["opening"] == "Question 0: which soup?"
    assert found["people"] == [{"id": "U1234546"}]
    assert (found["messages"], found["created"]) == (48, info.created)


def test_a_search_finds_conversations_by_their_words(client: Client) -> None:
    filled(client.store, "other", 1)
    client.store.conversation("risotto").add(cw.user("A risotto with mushrooms."))
    found = client.call("/conversations?q=risotto").json
    assert [one["id"] for one in found["conversations"]] == ["risotto"]
    assert found["conversations"][0]["hits"] == [
        {"seq": 1, "score": 1.0, "text": "A risotto with mushrooms."}
    ]
    near = client.call("/conversations?q=mushroom%20risotto&by=meaning").json
    assert near["conversations"][0]["id"] == "risotto"


def test_hidden_words_are_in_no_list(client: Client) -> None:
    chat = client.store.conversation("secret")
    chat.add([cw.user("The code is 9876."), cw.assistant("Noted.")])
    assert client.call(of("secret")).json["opening"] == "The code is 9876."
    chat.hide(1)
    for path in ("/conversations", of("secret"), f"{of('secret')}/messages"):
        assert b"9876" not in client.call(path).body
    assert b"9876" not in client.call(f"{of('secret')}/messages/1").body
    client.store.forget("secret")


def test_a_title_is_set_and_taken_away(client: Client) -> None:
    path = of("titled")
    client.store.conversation("titled").add(cw.user("Hi"))
    assert client.call(path, {"title": "Soup"}, method="PATCH").json["title"] == "Soup"
    assert client.call(path, {"agent": "aya"}, method="PATCH").json["title"] == "Soup"
    assert client.call(path, {"title": None}, method="PATCH").json["title"] is None


def test_a_conversation_with_forks_is_not_removed(client: Client) -> None:
    client.store.conversation("parent").add(cw.user("Hi"))
    client.store.conversation("parent").fork("child")
    assert client.call(of("parent"), method="DELETE").status == 409
    assert client.call(of("child")).json["parent"] == "parent"


def test_a_conversation_names_its_forks(client: Client) -> None:
    filled(client.store, "trunk", rounds=2)
    client.store.conversation("trunk").fork("branch", at=4).add(cw.user("And without soup?"))
    trunk, branch = (client.call(of(id)).json for id in ("trunk", "branch"))
    assert trunk["forks"] == [{"id": "branch", "title": None, "at": 4, "messages": 1}]
    assert (branch["parent"], branch["fork_at"], branch.get("forks", [])) == ("trunk", 4, [])
    assert branch["tokens"] < trunk["tokens"]
    for id in ("branch", "trunk"):
        client.store.forget(id)
