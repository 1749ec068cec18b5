"""Clients of Responses that name the answer they go on from, and send only what is new."""

import asyncio
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import contextwright as cw
from contextwright.errors import ProviderError
from contextwright.formats.replies.reply import ModelReply
from contextwright.serve.calls import read_call
from contextwright.serve.history.continuations import Continuations, new_id, number_in
from contextwright.serve.settings import ECHO
from contextwright.text.json import encode_json
from providers.standin import KEY, Held, Request, said, serving
from serve.gateways import Running, running
from serve.recording.test_recording import texts
from serve.test_translate import TOOLS, reply_of
from serve.upstreams import ENVIRONMENT, FORMATS, MODELS, open_settings, settings_for

CLIENT = "openai-responses"
OTHERS = [format for format in FORMATS if format != CLIENT]
TOOL = cw.render(cw.Conversation((cw.user("x"),), tuple(TOOLS)), CLIENT, model="m").payload["tools"]


def ask(gateway: Running, *items: Any, **fields: Any) -> tuple[str, ModelReply]:
    """Ask; return the answer's id, and the answer."""
    body = {"input": list(items), "tools": TOOL, **fields}
    streams = body.pop("stream", False)
    answer = gateway.generate(CLIENT, body, model="any", streams=streams)
    assert answer.status == 200, answer.body
    reply = reply_of(answer.body, CLIENT, streams)
    return reply.extra[CLIENT]["id"], reply


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("upstream", FORMATS)
def test_the_upstream_gets_the_whole_history(upstream: str, streams: bool) -> None:
    seen: list[cw.Conversation] = []

    def answer(request: Request) -> ModelReply:
        seen.append(cw.parse(request.body, request.format))
        if request.number:
            return said(f"Answer {request.number}.")
        call = cw.ToolCall("add", {"a": 1}, None if upstream == "gemini" else "call_1")
        if upstream == "openai-chat":
            return said(call)
        signature = server.sign(request.format, request.model)
        if upstream == "gemini":
            return said(
                cw.ToolCall("add", {"a": 1}, extra={"gemini": {"thoughtSignature": signature}})
            )
        return said(cw.Thinking("Hm.", signature=signature, origin=upstream), call)

    with (
        serving(answer) as server,
        running(settings_for(upstream, server), environment=ENVIRONMENT) as gateway,
    ):
        first, reply = ask(gateway, user("1 + 2?"), instructions="Be brief.", stream=streams)
        result = {"type": "function_call_output", "call_id": reply.message.calls[0].id}
        second, _ = ask(
            gateway, {**result, "output": "3"}, previous_response_id=first, stream=streams
        )
        ask(gateway, user("Sure?"), instructions="Be long.", previous_response_id=second)
        ask(gateway, user("Why?"), previous_response_id=second)  # another branch
        assert server.refused == []
        # Claude takes thinking back only behind the instructions it was given for.
        assert server.returned == (set() if upstream == "anthropic" else set(server.signed))
    told = [[one.text.strip() for one in each.messages if one.text.strip()] for each in seen]
    assert told == [
        ["Be brief.", "1 + 2?"],
        ["1 + 2?"],  # instructions hold for one request
        ["Be long.", "1 + 2?", "Answer 1.", "Sure?"],
        ["1 + 2?", "Answer 1.", "Why?"],
    ]
    for each in seen[1:]:
        results = [part for one in each.messages for part in one.parts]
        assert [part.text for part in results if isinstance(part, cw.ToolResult)] == ["3"]


@pytest.mark.parametrize("upstream", [*OTHERS, ECHO])
@pytest.mark.parametrize("field", ["previous_response_id", "conversation", "prompt"])
def test_a_history_that_nobody_here_has_is_refused(field: str, upstream: str) -> None:
    value = {"id": "pmpt_1"} if field == "prompt" else "resp_or_conv"
    with serving(said("Yes.")) as server:
        settings = None if upstream == ECHO else settings_for(upstream, server)
        with running(settings, environment=ENVIRONMENT) as gateway:
            answer = gateway.generate(CLIENT, {"input": "Go on.", field: value}, model=ECHO)
        assert server.bodies == []
    assert answer.status == 400
    assert answer.json["error"]["message"] == (
        f"{field} {value!r} is known neither here nor to the upstream: send the whole input"
    )


@pytest.mark.parametrize("restarts", [False, True], ids=["in memory", "after a restart"])
@pytest.mark.parametrize("as_items", [False, True], ids=["a string", "items"])
def test_what_is_passed_on_is_recorded_as_one_conversation(
    tmp_path: Path, as_items: bool, restarts: bool
) -> None:
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with (
            serving(lambda request: said(f"Answer {request.number}.")) as server,
            ExitStack() as gateways,
        ):
            settings = open_settings(CLIENT, server)
            gateway = gateways.enter_context(running(settings, store=store))
            last: dict[str, str] = {}
            for number in range(3):
                question = f"Question {number}?"
                tools = [dict(reversed(tool.items())) for tool in TOOL]  # as clients order them
                body = {"input": [user(question)] if as_items else question, "tools": tools, **last}
                answer = gateway.generate(CLIENT, body, model="m", key=KEY, streams=number == 1)
                reply = reply_of(answer.body, CLIENT, number == 1)
                last = {"previous_response_id": reply.extra[CLIENT]["id"]}
                if restarts:
                    gateways.close()
                    gateway = gateways.enter_context(running(settings, store=store))
            assert "Question 0?" not in str(server.bodies[2])  # as it came
            other = {"input": "And I?", "store": False, **last}
            gateway.generate(CLIENT, other, model="m", key="another")
        foreign, *records = store.requests()
        (name,) = {record.conversation for record in records}
        assert foreign.conversation != name  # only the client that got an answer can go on from it
        assert texts(store, name) == [
            text for number in range(3) for text in (f"Question {number}?", f"Answer {number}.")
        ]
        if restarts:  # what the upstream was sent before is not known as a whole
            return
        third, second, _ = [record.prefix for record in records]
        assert second is not None
        assert third is not None
        assert third.first_difference is second.first_difference is None
        assert 0 < second.shared < second.tokens <= third.shared < third.tokens


def test_what_is_not_known_here_is_compared_with_nothing(tmp_path: Path) -> None:
    """The upstream has the beginning of its prompt."""
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with serving(said("Yes.")) as server:
            with running(open_settings(CLIENT, server), store=store) as gateway:
                for previous in ({}, {"previous_response_id": "resp_elsewhere"}, {}):
                    body = {"input": [user("Well?")], **previous}
                    gateway.generate(CLIENT, body, model="m", key=KEY)
        assert [record.prefix for record in store.requests()] == [None] * 3


@pytest.mark.parametrize("way", ["restart", "two gateways"])
@pytest.mark.parametrize("upstream", [*FORMATS, ECHO])
def test_another_gateway_on_the_same_store_goes_on(tmp_path: Path, upstream: str, way: str) -> None:
    """Each turn at another gateway, streamed and not, whoever has the answer in memory."""

    def answer(request: Request) -> ModelReply:
        seen.append(cw.parse(request.body, request.format))
        return said(f"Answer {request.number}.")

    answers = "Question {}?" if upstream == ECHO else "Answer {}."
    seen: list[cw.Conversation] = []
    with cw.Store(tmp_path / "store.db", sync="fast") as store, serving(answer) as server:
        settings = None if upstream == ECHO else settings_for(upstream, server)

        def gateway() -> Running:
            return gateways.enter_context(running(settings, environment=ENVIRONMENT, store=store))

        with ExitStack() as gateways:
            both = [gateway(), gateway()]
            last: dict[str, Any] = {}
            for number in range(4):
                if way == "restart":
                    gateways.close()
                    both = [gateway()] * 2
                streams = number % 3 == 1
                body = {"input": f"Question {number}?", "model": ECHO, **last}
                reply = both[number % 2].generate(CLIENT, body, model=ECHO, streams=streams)
                assert reply.status == 200, reply.body
                id = reply_of(reply.body, CLIENT, streams).extra[CLIENT]["id"]
                last = {"previous_response_id": id}
            other = both[0].generate(CLIENT, {"input": "And I?", **last}, model=ECHO, key=KEY)
            assert other.status in (400, 401)
        (name,) = {record.conversation for record in store.requests() if record.conversation}
        words = texts(store, name)
        assert words == [
            text for number in range(4) for text in (f"Question {number}?", answers.format(number))
        ]
    for conversation in seen[-1:]:
        assert [one.text.strip() for one in conversation.messages] == words[:-1]


def references(reply: ModelReply) -> list[dict[str, Any]]:
    """The items of an answer by their ids."""
    parts = [part for part in reply.message.parts if not isinstance(part, cw.Opaque)]
    ids = dict.fromkeys(part.extra[CLIENT]["id"] for part in parts)
    return [{"type": "item_reference", "id": id} for id in ids]


def results(reply: ModelReply) -> list[dict[str, Any]]:
    """A result for each call of an answer."""
    calls = reply.message.calls
    return [{"type": "function_call_output", "call_id": one.id, "output": "3"} for one in calls]


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("restarts", [False, True], ids=["in memory", "after a restart"])
@pytest.mark.parametrize("upstream", OTHERS)
def test_items_may_be_named_by_their_ids(
    tmp_path: Path, upstream: str, restarts: bool, streams: bool
) -> None:
    """As the Vercel AI SDK 5 does, unless it is told that nothing is stored."""

    def answer(request: Request) -> ModelReply:
        seen.append(cw.parse(request.body, request.format))
        if request.number > 1:
            return said(f"Answer {request.number}.")
        calls = [cw.ToolCall("add", {"a": each}, f"call_{request.number}{each}") for each in (1, 2)]
        return said("Wait.", *calls)

    seen: list[cw.Conversation] = []
    items: list[dict[str, Any]] = [user("1 + 2?")]
    with cw.Store(tmp_path / "store.db", sync="fast") as store, serving(answer) as server:
        settings = settings_for(upstream, server)
        with ExitStack() as gateways:
            gateway = gateways.enter_context(
                running(settings, environment=ENVIRONMENT, store=store)
            )
            for _ in range(4):
                _, reply = ask(gateway, *items, stream=streams)
                items += references(reply) + (results(reply) or [user("And?")])
                if restarts:
                    gateways.close()
                    gateway = gateways.enter_context(
                        running(settings, environment=ENVIRONMENT, store=store)
                    )
            assert server.refused == []
    last = seen[-1].messages
    assert [call.arguments for one in last for call in one.calls] == [{"a": 1}, {"a": 2}] * 2
    assert [result.text for one in last for result in one.results] == ["3"] * 4
    said_last = [one.text.strip() for one in last if one.text.strip()]
    assert said_last == ["1 + 2?", "Wait.", "Wait.", "Answer 2.", "And?"]


@pytest.mark.parametrize("upstream", [*OTHERS, ECHO])
def test_an_item_that_nobody_here_has_is_refused(upstream: str) -> None:
    item = {"type": "item_reference", "id": "fc_elsewhere_1"}
    with serving(said("Yes.")) as server:
        settings = None if upstream == ECHO else settings_for(upstream, server)
        with running(settings, environment=ENVIRONMENT) as gateway:
            body = {"input": [user("Hello"), item, user("Go on.")]}
            answer = gateway.generate(CLIENT, body, model=ECHO)
        assert server.bodies == []
    assert answer.status == 400
    assert (
        "item_reference 'fc_elsewhere_1' is known neither here" in answer.json["error"]["message"]
    )


def test_half_a_history_is_not_gone_on_from() -> None:
    """What an upstream of Responses stored under an id of its own is not known here."""
    with (
        serving(said("Yes.")) as server,
        running(settings_for(CLIENT, server), environment=ENVIRONMENT) as gateway,
    ):
        first, _ = ask(gateway, user("On?"), previous_response_id="resp_elsewhere")
        ask(gateway, user("And?"), previous_response_id=first)
        named = [body["previous_response_id"] for body in server.bodies]
    assert named == ["resp_elsewhere", first]  # which the upstream refuses


def test_an_id_belongs_to_its_client() -> None:
    id = f"resp_{new_id('one', 7)}"
    assert number_in("one", id) == 7
    assert number_in("another", id) == 0
    assert number_in("one", f"{id[:-1]}{'0' if id[-1] != '0' else '1'}") == 0
    for foreign in ("", "resp_", "resp_68a1", "resp_" + "é" * 32, "resp_" + "0" * 32, 3 * id):
        assert number_in("one", foreign) == 0


def conversation(*messages: cw.Message, **fields: Any) -> cw.Conversation:
    items = [{"role": one.role, "content": one.text} for one in messages]
    return cw.parse({"input": items, "model": "m", **fields}, CLIENT)


def answered(id: str) -> ModelReply:
    body = {"id": id, "object": "response", "status": "completed", "output": []}
    return cw.parse_reply(body, CLIENT)


def is_known(known: Continuations, owner: str, id: str) -> bool:
    try:
        known.whole(owner, conversation(cw.user("b"), previous_response_id=id), elsewhere=False)
    except ProviderError:
        return False
    return True


def test_each_client_has_its_own() -> None:
    known = Continuations()
    known.keep("one", conversation(cw.user("a")), answered("resp_1"), 10)
    assert is_known(known, "one", "resp_1")
    assert not is_known(known, "another", "resp_1")


def test_a_client_that_wants_nothing_stored_sends_everything() -> None:
    known = Continuations()
    known.keep("one", conversation(cw.user("a"), store=False), answered("resp_1"), 10)
    assert not is_known(known, "one", "resp_1")


def test_the_oldest_are_forgotten() -> None:
    known = Continuations(max_bytes=25)
    for number in range(3):
        known.keep("one", conversation(cw.user("a")), answered(f"resp_{number}"), 10)
    known.keep("one", conversation(cw.user("a")), answered("resp_2"), 10)  # asked twice
    assert [is_known(known, "one", f"resp_{number}") for number in range(3)] == [False, True, True]


def test_a_request_without_names_of_ours_passes_as_it_is() -> None:
    """It names an item of OpenAI's; the id of a call looks like one of ours."""
    call = {"type": "function_call", "call_id": f"call_{'0a' * 16}", "name": "f", "arguments": "{}"}
    items = [{"type": "item_reference", "id": f"msg_{'0a' * 24}"}, call]
    body = encode_json({"model": MODELS[CLIENT], "input": items})
    sent = read_call(CLIENT, "generate", body, {})
    assert asyncio.run(Continuations().spelled_out("client", sent)) is sent


def test_an_answer_that_ends_late_comes_before_what_goes_on_from_it(tmp_path: Path) -> None:
    """Recorded as one conversation, however long an upstream keeps an answer open."""
    held = Held(said("The first answer."), Event(), Event())
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with serving(held, said("Second."), said("Third.")) as server:
            with running(open_settings(CLIENT, server), store=store) as gateway:
                client = HTTPConnection("127.0.0.1", gateway.port)
                body = encode_json({"input": "One?", "stream": True, "model": "m"})
                client.request("POST", "/v1/responses", body, {"authorization": f"Bearer {KEY}"})
                first = client.getresponse()
                assert b'"resp_r0"' in first.read1()
                for number, question in enumerate(("Two?", "Three?")):
                    new = {"input": question, "previous_response_id": f"resp_r{number}"}
                    gateway.generate(CLIENT, new, model="m", key=KEY)
                assert {record.state for record in store.requests()} == {"open"}
                held.go.set()
                first.read()
                client.close()
        (name,) = {record.conversation for record in store.requests()}
        assert texts(store, name) == [
            *("One?", "The first answer.", "Two?", "Second.", "Three?", "Third.")
        ]
