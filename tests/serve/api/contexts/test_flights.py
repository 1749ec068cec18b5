"""The flight of a conversation is the simulation of it, and every context in it the library's."""

import pytest
from msgspec.structs import replace

from contextwright.context.recipe import Recipe
from contextwright.context.simulation.simulate import simulate
from contextwright.store.frames import conversation_of
from serve.api.client import ID, Client, of

MODEL = "claude-sonnet-5-5"


def test_a_flight_is_the_simulation_of_all_messages(client: Client) -> None:
    conversation = conversation_of(client.store.conversation(ID), timed=True)
    [row] = simulate(replace(conversation, model=None), Recipe(), model=MODEL, budget=900)
    flight = client.call(f"{of()}/flight?budget=900&model={MODEL}").json
    assert [one["at"] for one in flight["requests"]] == [one.messages for one in row.requests]
    for found, expected in zip(flight["requests"], row.requests, strict=True):
        charge = expected.charge
        assert (found["tokens"], found["read"], found["written"], found["plain"]) == (
            expected.tokens, charge.read, charge.written, charge.plain,
        )  # fmt: skip
        assert (found["again"], found["waste"]) == (expected.again, expected.waste)
        assert (found["cause"], found["unread"]) == (expected.cause, expected.unread)
        runs = [[run.start + 1, run.stop, run.action] for run in expected.runs]
        assert found["fates"] == runs
    assert any(one["cause"] for one in flight["requests"])
    assert not flight["earlier"]


@pytest.mark.parametrize("columns", [1, 23])
def test_the_newest_requests_are_those_of_the_whole_flight(client: Client, columns: int) -> None:
    whole = client.call(f"{of()}/flight?budget=900&model={MODEL}").json
    few = client.call(f"{of()}/flight?budget=900&model={MODEL}&columns={columns}").json
    newest = whole["requests"][-columns:]
    assert few["earlier"]
    assert [one["fates"] for one in few["requests"]] == [one["fates"] for one in newest]
    request = few["requests"][0]
    assert (request["read"], request["again"]) == (0, 0), "nothing was sent before the first"


def test_a_request_that_does_not_fit_is_there_as_refused(client: Client) -> None:
    flight = client.call(f"{of()}/flight?budget=20&model={MODEL}").json
    refused = [one for one in flight["requests"] if one["refused"]]
    assert len(refused) == flight["refused"] > 0
    assert len(flight["requests"]) == 24
    for one in refused:
        assert "a budget of 20 tokens is too small" in one["refused"]
        assert (one["budget"], one["tokens"], one["fates"]) == (20, 0, [])
