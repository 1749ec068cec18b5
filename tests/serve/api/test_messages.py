"""Messages over HTTP: pages both ways, previews, turns."""

import pytest

import contextwright as cw
from serve.api.client import ID, Client, of


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", range(1, 49)),
        ("?count=3", range(46, 49)),
        ("?count=3&before=46", range(43, 46)),
        ("?count=3&before=2", range(1, 2)),
        ("?count=3&before=1", range(0)),
        ("?count=3&before=999", range(46, 49)),
        ("?count=3&from=1", range(1, 4)),
        ("?count=3&from=47", range(47, 49)),
        ("?from=49", range(0)),
    ],
)
def test_pages_go_both_ways(client: Client, query: str, expected: range) -> None:
    page = client.call(f"{of()}/messages{query}").json
    assert page["total"] == 48
    assert [one["seq"] for one in page["messages"]] == list(expected)


def test_a_preview_tells_kinds_and_openings(client: Client) -> None:
    page = client.call(f"{of()}/messages?from=1&count=4&preview=8&model=gpt-4o").json
    stored = list(client.store.conversation(ID).read(1, 5))
    assert all(one.pop("tokens") > 4 for one in page["messages"])
    assert page["messages"] == [
        {
            "seq": 1,
            "role": "user",
            "key": "turn-0",
            "author": {"id": "U1234546"},
            "stored_at": stored[0].stored_at,
            "parts": [{"kind": "text", "text": "Question", "chars": 23}],
        },
        {
            "seq": 2,
            "role": "assistant",
            "key": "turn-0",
            "stored_at": stored[0].stored_at,
            "parts": [
                {
                    "kind": "tool_call",
                    "text": '{"page":',
                    "chars": 10,
                    "name": "getThreadHistory",
                    "call_id": "c0",
                }
            ],
        },
        {
            "seq": 3,
            "role": "tool",
            "key": "turn-0",
            "stored_at": stored[0].stored_at,
            "parts": [{"kind": "tool_result", "text": "Alice li", "chars": 400, "call_id": "c0"}],
        },
        {
            "seq": 4,
            "role": "assistant",
            "key": "turn-0",
            "stored_at": stored[0].stored_at,
            "parts": [{"kind": "text", "text": "Soup 0.", "chars": 7}],
        },
    ]


def test_media_are_named_and_not_sent(client: Client) -> None:
    image = cw.Media("image", "image/png", data="aGVsbG8=", name="soup.png")
    page = cw.Media("document", url="https://example.org/menu.pdf")
    client.store.conversation("media").add(cw.user([cw.Text("Look"), image, page]))
    [found] = client.call(f"{of('media')}/messages").json["messages"]
    assert found["parts"][1:] == [
        {"kind": "media", "text": "soup.png", "chars": 8, "name": "image", "mime": "image/png"},
        {
            "kind": "media",
            "text": "https://example.org/menu.pdf",
            "chars": 28,
            "name": "document",
        },
    ]
    whole = client.call(f"{of('media')}/messages/1").json
    assert whole["message"]["parts"][1]["data"] == "aGVsbG8="


def test_a_turn_is_stored_once_for_its_key(client: Client) -> None:
    path = f"{of('keyed')}/turns"
    turn = {
        "key": "k1",
        "messages": [
            {"role": "user", "content": "Soup?"},
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "Yes."},
        ],
    }
    for _ in range(2):
        answer = client.call(path, turn)
        assert (answer.status, answer.json["seq"]) == (201, [1, 2, 3])
    other = {"key": "k1", "messages": [{"role": "user", "content": "Salad?"}]}
    assert client.call(path, other).json["error"]["type"] == "conflict"
    ours = {"messages": [{"role": "user", "parts": [{"type": "text", "text": "Ours"}]}]}
    assert client.call(path, ours).json["seq"] == [4]
    assert len(client.store.conversation("keyed")) == 4


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{}],
        [{"role": "boss", "content": "Hi"}],
        [{"role": "user", "content": "a\x00b"}],
        [{"role": "user", "content": "Hi"}, {"role": "user", "parts": [3]}],
    ],
)
def test_a_turn_that_cannot_be_stored_stores_nothing(client: Client, messages: object) -> None:
    answer = client.call(f"{of('refused')}/turns", {"messages": messages})
    assert answer.status == 422
    assert client.call(of("refused")).status == 404
