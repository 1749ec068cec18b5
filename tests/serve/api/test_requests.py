"""Recorded requests over HTTP."""

import json

import msgspec

import contextwright as cw
from serve.api.client import PAYLOAD, Client, recorded


def test_a_recorded_request_has_its_receipt(client: Client) -> None:
    found = client.call("/requests/1").json
    assert found["payload"] == PAYLOAD
    assert found["count"]["tokens"] == cw.count(PAYLOAD, model="gpt-4o").tokens
    assert [unit["place"] for unit in found["units"]] == ["messages[0]"]
    assert found["problems"] == []
    assert found["request"] == msgspec.json.decode(msgspec.json.encode(client.store.request(1)))


def test_bodies_are_given_byte_for_byte(client: Client) -> None:
    body = b'{"model": "gpt-4o",   "messages": []}'
    number = recorded(client.store, body)
    answer = client.call(f"/requests/{number}/body")
    assert (answer.body, answer.headers["content-type"]) == (body, "application/octet-stream")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert client.call(f"/requests/{number}/body?part=reply").status == 404


def test_a_body_that_is_not_json_has_only_figures(client: Client) -> None:
    number = recorded(client.store, b"\xff\x00")
    found = client.call(f"/requests/{number}").json
    assert (found["payload"], found["count"], found["units"]) == (None, None, [])
    assert client.call(f"/requests/{number}/replay?format=gemini").status == 404


def test_a_replay_is_a_conversion(client: Client) -> None:
    found = client.call("/requests/1/replay?format=anthropic&model=claude-sonnet-5-5").json
    own = cw.convert(PAYLOAD, "openai-chat", "anthropic", model="claude-sonnet-5-5")
    assert found["payload"] == own.payload
    assert len(found["changes"]) == len(own.changes)


def test_pages_hold_every_request_once(client: Client) -> None:
    for n in range(5):
        recorded(client.store, json.dumps({**PAYLOAD, "n": n}).encode(), "paged")
    seen, before = list[int](), ""
    while True:
        page = client.call(f"/requests?conversation=paged&limit=2{before}").json
        seen += [one["number"] for one in page["requests"]]
        if page["next"] is None:
            break
        before = f"&before={page['next']}"
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == 5
