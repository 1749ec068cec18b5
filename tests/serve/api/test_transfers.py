"""Import and export over HTTP."""

import io
import json
import zipfile

import pytest

import contextwright as cw
from serve.api.client import BEARER, ID, Client, of

CHAT = {
    "messages": [{"role": "user", "content": "Soup?"}, {"role": "assistant", "content": "Yes."}]
}


def sent(client: Client, query: str, body: bytes) -> tuple[int, dict[str, object]]:
    """Import a file; give the status and the answer."""
    answer = client.gateway.ask(f"/api/v1/import{query}", body, BEARER)
    return answer.status, answer.json


def test_a_file_is_imported_once(client: Client) -> None:
    body = json.dumps(CHAT).encode()
    status, found = sent(client, "?id=one", body)
    assert (status, found["format"], found["messages"], found["known"]) == (
        200,
        "openai-chat",
        2,
        0,
    )
    assert sent(client, "?id=one", body)[1]["known"] == 2
    other = json.dumps({"messages": [{"role": "user", "content": "Salad?"}]}).encode()
    status, found = sent(client, "?id=one", other)
    assert (status, found["error"]["type"]) == (409, "conflict")  # pyright: ignore
    assert len(client.store.conversation("one")) == 2


def test_lines_and_zips_are_read(client: Client) -> None:
    lines = b"\n".join(json.dumps({**CHAT, "id": f"line {n}"}).encode() for n in range(3))
    status, found = sent(client, "?format=openai-finetuning", lines)
    assert (status, found["conversations"]) == (200, 3)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("../../etc/chat.json", json.dumps(CHAT))
    assert sent(client, "?id=packed", packed.getvalue())[0] in (200, 422)


@pytest.mark.parametrize(
    ("query", "body"),
    [
        ("", b""),
        ("", b"\x00\xff"),
        ("", b"{"),
        ("?format=telex", b"{}"),
        ("?format=/etc/passwd", b"{}"),
        ("?id=a%0Ab", b'{"messages": [{"role": "user", "content": "Hi"}]}'),
    ],
)
def test_what_cannot_be_read_is_refused(client: Client, query: str, body: bytes) -> None:
    status, found = sent(client, query, body)
    assert (status, found["error"]["type"]) == (422, "invalid")  # pyright: ignore
    assert "/tmp" not in json.dumps(found)


def test_an_export_is_what_was_imported(client: Client) -> None:
    sent(client, "?id=there", json.dumps(CHAT).encode())
    answer = client.call(f"{of('there')}/export?format=openai-chat&model=gpt-4o")
    assert answer.json["messages"] == CHAT["messages"]
    whole = client.call(f"{of()}/export").json
    messages = cw.parse(whole, "contextwright").messages
    assert messages == tuple(one.message for one in client.store.conversation(ID).read())


def test_all_conversations_are_a_line_each(client: Client) -> None:
    answer = client.call("/export")
    assert answer.headers["content-type"] == "application/x-ndjson"
    ids = [json.loads(line)["id"] for line in answer.body.splitlines()]
    assert ids == [info.id for info in client.store.list()]
