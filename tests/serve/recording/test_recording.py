"""Recording: every request that passes is kept, each message once, and no key at all."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anthropic
import pytest
from msgspec.structs import replace

import contextwright as cw
from contextwright.formats.replies.events import ReplyError, Usage
from contextwright.formats.replies.reply import ModelReply
from contextwright.serve import GatewaySettings, Route
from contextwright.serve.recording import recorder
from contextwright.store import RecordedRequest, RequestBodies
from contextwright.store.requests import RecordedFork
from contextwright.text.json import decode_json
from providers.standin import KEY, BreakOff, Dribble, Request, StandIn, said, serving
from serve.claude_code import MODEL, TOOLS, ClaudeCode, PromptCache
from serve.gateways import TOKEN, Running, running
from serve.test_relay import ANSWER, UPSTREAMS, upstream
from serve.test_translate import ENVIRONMENT, settings_for

HELLO = cw.render([cw.user("Hello")], "openai-chat").payload


@contextmanager
def recording(store: cw.Store, *answers: Any, **settings: Any) -> Iterator[tuple[Running, StandIn]]:
    """A gateway that passes requests on to a stand-in, and records them."""
    with serving(*answers) as server:
        route = Route("*", "anthropic", base_url=server.base_url("anthropic"))
        with running(GatewaySettings((route,), **settings), store=store) as gateway:
            yield gateway, server


def answering(words: str = "Answer") -> Callable[[Request], ModelReply]:
    """Answers with a number, and now and then with a call; as many tokens as the cache says."""
    cache = PromptCache()

    def answer(request: Request) -> ModelReply:
        content: list[Any] = [cw.Text(f"{words} {request.number}.")]
        if request.number % 3 == 0:
            content.append(
                cw.ToolCall("Bash", {"command": f"ls {request.number}"}, f"c{request.number}")
            )
        return replace(said(*content), usage=cache.usage(request.body))

    return answer


def test_a_session_of_thirty_requests_is_stored_once(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with recording(store, answering()) as (gateway, server):
            client = ClaudeCode(gateway.address)
            answer = client.ask("Where are we? " * 30)
            for number in range(29):
                if answer.stop_reason == "tool_use":
                    answer = client.give_result(f"file {number}\n" * 40)
                else:
                    answer = client.ask(f"And then? {number} " * 20)
        records = store.requests()[::-1]
        (conversation,) = {record.conversation for record in records}
        assert conversation == "claude-code/5e551011"
        stored = [one.message for one in store.conversation(conversation).read()]
        said = cw.parse({"messages": client.messages, "system": "x", "model": "m"}, "anthropic")
        assert [one.role for one in stored] == [one.role for one in said.messages]
        assert [one.text for one in stored[1:]] == [one.text for one in said.messages[1:]]
        assert "cache_control" not in str(stored)
        for record in records:
            check_record(record)
        sent = [store.request_bodies(record.number).request for record in records]
        assert [decode_json(one or b"") for one in sent] == server.bodies
        sql = "SELECT sum(length(body)) FROM bodies WHERE kind = 'request'"
        ((size,),) = store.engine.read(lambda connection: connection.rows(sql))
        assert size < records[-1].request_bytes < sum(one.request_bytes for one in records) / 15


def check_record(record: RecordedRequest) -> None:
    assert record.state == "answered"
    assert (record.mode, record.client) == ("pass-through", "claude-code/2.1.325")
    assert record.usage is not None
    assert record.price
    if record.previous is not None:
        assert record.prefix is not None
        assert record.prefix.first_difference is None
        assert record.prefix.share == pytest.approx(record.cached, abs=0.02)


def texts(store: cw.Store, conversation: str | None) -> list[str]:
    """What was said in a conversation, without the system text."""
    assert conversation is not None
    stored = store.conversation(conversation).read()
    return [one.message.text.strip() for one in stored if one.message.role != "system"]


def test_a_rewind_an_edit_and_a_compaction_are_forks(place: str) -> None:
    with cw.Store(place) as store:
        with recording(store, lambda request: said(f"Answer {request.number}.")) as (gateway, _):
            client = ClaudeCode(gateway.address)
            for question in ("One?", "Two?", "Three?"):
                client.ask(question)
            del client.messages[-2:]
            client.ask("Other?")
            client.ask("Further?")
            client.messages[2]["content"][0]["text"] = "Edited."
            client.ask("After the edit?")
            client.messages = []
            client.ask("A summary of it all.")
            client.ask("And on?")
            client.messages[2]["content"][0]["text"] = "Edited, and with other tools."
            client.ask("With what?", tools=TOOLS[:1])
            ClaudeCode(gateway.address).ask("A title?", tools=[])
            ClaudeCode(gateway.address, "another").ask("One?")
        records = store.requests()[::-1]
        name = "claude-code/5e551011"
        forks = [(each.conversation, each.fork) for each in records[2:]]
        assert forks == [
            (name, None),
            (f"{name}~4", RecordedFork(name, 6, "rewind")),
            (f"{name}~4", None),
            (f"{name}~6", RecordedFork(name, 3, "edit")),
            (f"{name}~7", RecordedFork(f"{name}~6", 0, "compaction")),
            (f"{name}~7", None),
            (f"{name}~9", RecordedFork(f"{name}~7", 3, "edit")),
            (f"{name}~10", None),
            ("claude-code/another", None),
        ]
        assert texts(store, name)[-4:] == ["Two?", "Answer 1.", "Three?", "Answer 2."]
        assert texts(store, f"{name}~4")[-4:] == ["Other?", "Answer 3.", "Further?", "Answer 4."]
        assert texts(store, f"{name}~6")[1:3] == ["Edited.", "Two?"]
        assert texts(store, f"{name}~7")[1::2] == ["Answer 6.", "Answer 7."]
        causes = [each.prefix and each.prefix.cause for each in records]
        assert causes[3] == "the client went back to an earlier message"
        assert causes[5] == "the client changed an earlier message"
        assert causes[6] == "the client compacted the history"
        assert causes[8] == "the tool list changed"  # before what was edited
        assert causes[2] == causes[4] == causes[7] == "nothing changed, only added"


def test_what_was_asked_twice_is_stored_once(tmp_path: Path) -> None:
    """A client that tries again, also after an error, says nothing new."""
    refused = ReplyError("overloaded", "Come back later.", 529)
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with recording(store, refused, said("One."), said("One."), said("Two.")) as (gateway, _):
            client = ClaudeCode(gateway.address)
            with pytest.raises(anthropic.APIStatusError):
                client.ask("Hello?")
            for _ in range(3):
                client.go_on()
                client.messages.pop()
        records = store.requests()[::-1]
        assert [(each.state, each.error, each.status) for each in records] == [
            ("failed", "overloaded", 529),
            *[("answered", "", 200)] * 3,
        ]
        assert [each.conversation for each in records[1:3]] == ["claude-code/5e551011"] * 2
        assert records[3].fork == RecordedFork("claude-code/5e551011", 3, "rewind")
        assert texts(store, "claude-code/5e551011")[-1] == "One."


def test_an_answer_that_breaks_off_is_kept_as_far_as_it_came(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with recording(store, BreakOff(said("One two three."), 2), said("Whole.")) as (gateway, _):
            client = ClaudeCode(gateway.address)
            with pytest.raises(Exception, match=r".+"):
                client.ask("Hello?")
            client.go_on()
        second, first = store.requests()
        assert (first.state, first.conversation) == ("interrupted", None)
        assert b"two" in (store.request_bodies(first.number).reply or b"")
        assert texts(store, second.conversation)[-1] == "Whole."


SECRETS = (KEY, "client-key-0123456789", TOKEN)


def test_no_key_is_stored_or_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Not even one that a client puts into its body, or that is repeated to it."""
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with recording(store, said(f"You said {KEY}"), Dribble(said(KEY))) as (gateway, _):
            ClaudeCode(gateway.address).ask(f"My key is {KEY}")
            for key in SECRETS:
                question = {"role": "user", "content": f"My key is {key}"}
                body = {"model": MODEL, "max_tokens": 9, "messages": [question]}
                headers = {"x-api-key": key, "anthropic-version": "1", "cookie": f"key={key}"}
                gateway.ask(f"/v1/messages?key={key}", {**body, "stream": True}, headers)
                gateway.ask("/v1/messages", body, {"authorization": f"Bearer {key}"})
                both = {"authorization": "Bearer another-key-0123", "x-api-key": key}
                gateway.ask("/v1/messages", body, both)
        records = store.requests()
        assert len(records) == 10
        assert all(record.masked for record in records)
        assert {record.state for record in records} == {"answered", "failed"}
        read: list[Any] = [store.request_bodies(record.number) for record in records]
        for info in store.list():
            read += [info, list(store.conversation(info.id).read())]
        for file in tmp_path.iterdir():
            assert not any(secret.encode() in file.read_bytes() for secret in SECRETS), file
    assert "My key is ****" in str(read)
    assert not any(secret in f"{records} {read} {caplog.text}" for secret in SECRETS)


def test_without_content_only_figures_are_kept(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with recording(store, answering("Secretly"), redact="content") as (gateway, _):
            client = ClaudeCode(gateway.address)
            client.ask("Secretly?")
            client.give_result("Secretly.")
        second, first = store.requests()
        assert store.request_bodies(first.number) == RequestBodies()
        assert list(store.list()) == []
        assert (second.state, second.redacted, second.session) == ("answered", True, "5e551011")
        assert second.usage is not None
        assert second.prefix is not None
        assert second.prefix.share == pytest.approx(second.cached, abs=0.02)
    assert not any(b"Secretly" in file.read_bytes() for file in tmp_path.iterdir())


def test_a_translated_request_is_kept_on_both_sides(tmp_path: Path) -> None:
    payload = cw.render([cw.system("Be brief."), cw.user("Hello")], "openai-chat").payload
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with serving(replace(said("Hi."), usage=Usage(100, 5, 40))) as server:
            settings = settings_for("anthropic", server)
            with running(settings, environment=ENVIRONMENT, store=store) as gateway:
                given = {**payload, "logit_bias": {"50256": -100}}
                answer = gateway.generate("openai-chat", given, model="gpt-4o", streams=True)
        (record,) = store.requests()
        assert (record.mode, record.format, record.upstream_format, record.upstream) == (
            "translated",
            "openai-chat",
            "anthropic",
            "anthropic",
        )
        assert (record.model, record.sent_model) == ("gpt-4o", "claude-sonnet-5-5")
        assert record.usage == Usage(100, 5, 40)
        assert [change.path for change in record.changes] == ["logit_bias", "max_tokens"]
        kept = store.request_bodies(record.number)
        assert decode_json(kept.upstream or b"") == server.bodies[0]
        assert kept.reply == answer.body
        assert texts(store, record.conversation) == ["Hello", "Hi."]


def test_requests_without_a_session_follow_their_history(tmp_path: Path) -> None:
    messages = list[cw.Message]()
    payload = HELLO
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with running(store=store) as gateway:
            for question in ("One", "Two"):
                messages.append(cw.user(question))
                for format in ("gemini", "openai-chat"):
                    payload = cw.render(messages, format).payload
                    gateway.generate(format, payload, model="echo")
                messages.append(cw.assistant(question))
            gateway.generate("gemini", payload, model="echo", key="of-another-client")
        last, *rest, first = store.requests()
        assert {each.conversation for each in rest} == {first.conversation}
        assert last.conversation != first.conversation
        assert texts(store, first.conversation) == ["One", "One", "Two", "Two"]


def test_old_requests_are_removed_at_the_start(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with running(store=store) as gateway:
            gateway.generate("openai-chat", HELLO, model="echo")
        with running(GatewaySettings(keep_days=0), store=store):
            pass
        assert store.requests() == []
        assert len(list(store.list())) == 1


def test_old_requests_that_cannot_be_removed_are_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with running(GatewaySettings(keep_days=1e12), store=store) as gateway:
            gateway.generate("openai-chat", HELLO, model="echo")
        assert [one.state for one in store.requests()] == ["answered"]
    assert "recorded requests were not tidied up: OverflowError in " in caplog.text


def test_old_requests_are_removed_while_others_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "HOUR", 1.0)
    settings = GatewaySettings(keep_days=1 / 86_400)
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with running(settings, store=store) as gateway:
            for _ in range(10_000):
                gateway.generate("openai-chat", HELLO, model="echo")
                if store.requests(limit=1, before=2) == []:
                    break
        assert store.requests(limit=1, before=2) == []
        assert {one.state for one in store.requests()} == {"answered"}


@pytest.mark.parametrize("status", [200, 204, 302])
def test_nothing_is_not_an_answer(tmp_path: Path, status: int) -> None:
    with cw.Store(tmp_path / "store.db", sync="fast") as store, upstream() as server:
        server.status, server.body = status, b""
        route = Route("*", "anthropic", base_url=f"http://127.0.0.1:{server.server_port}")
        with running(GatewaySettings((route,)), store=store) as gateway:
            assert gateway.ask("/v1/messages", {"model": "m", "messages": []}).status == status
        (record,) = store.requests()
        assert (record.state, record.status, record.error) == ("failed", status, "server")


def test_nothing_is_recorded_where_it_is_not_wanted(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with running(GatewaySettings(record=False), store=store) as gateway:
            gateway.generate("openai-chat", HELLO, model="echo")
        assert store.requests() == []


@pytest.mark.parametrize("path", UPSTREAMS)
def test_not_a_byte_changes_while_it_is_recorded(tmp_path: Path, path: str) -> None:
    """Not even of answers that nobody can read; these are kept as they are."""
    body = b'{ "model":"m",  "stream" :true, "x": 1.0, "contents":[], "\\u00e9": "\xc3\xa9" }\n'
    name, ending = UPSTREAMS[path]
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with upstream() as server:
            base = f"http://127.0.0.1:{server.server_port}{ending}"
            routes = (Route("*", name, base_url=base),)
            with running(GatewaySettings(routes), store=store) as gateway:
                answer = gateway.ask(path, body)
        assert (answer.body, server.seen[0][2]) == (ANSWER, body)
        (record,) = store.requests()
        assert store.request_bodies(record.number) == RequestBodies(body, None, ANSWER)
        assert record.conversation is None


def test_what_is_not_recorded_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A store that is too slow, or fails, holds no answer up."""
    monkeypatch.setattr(recorder, "MAX_HELD_BYTES", -1)
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with running(store=store) as gateway:
            for _ in range(3):
                assert gateway.generate("openai-chat", HELLO, model="echo").status == 200
        assert store.requests() == []
    assert "1 requests unrecorded: the store is too slow" in caplog.text
    monkeypatch.undo()
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with running(store=store) as gateway:
            store.engine.write_alone(lambda connection: connection.run("DROP TABLE bodies"))
            assert gateway.generate("openai-chat", HELLO, model="echo").status == 200
    assert "no such table: bodies" in caplog.text
    assert "Hello" not in caplog.text


def test_a_request_whose_end_cannot_be_stored_is_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with running(store=store) as gateway:
            store.engine.write_alone(lambda connection: connection.run("DROP TABLE places"))
            for _ in range(2):
                assert gateway.generate("openai-chat", HELLO, model="echo").status == 200
        assert [record.state for record in store.requests()] == ["lost", "lost"]
    assert "no such table: places" in caplog.text


def test_an_answer_without_room_is_passed_on_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is bounded, however slow the store and however long the answer."""
    long = said("word " * 5_000)
    monkeypatch.setattr(recorder, "MAX_HELD_BYTES", 20_000)
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with recording(store, long, said("Short.")) as (gateway, _):
            client = ClaudeCode(gateway.address)
            answer = client.ask("Much?")
            assert str(answer.content).count("word ") == 5_000
            client.messages.clear()
            client.ask("Little?")
        short, lost = store.requests()
        assert (short.state, short.changes) == ("answered", ())
        assert lost.state == "answered"
        assert [change.code for change in lost.changes] == ["loss.reply"]
        assert store.request_bodies(lost.number).reply is None
        assert b"Much?" in (store.request_bodies(lost.number).request or b"")


def test_a_store_that_falls_behind_catches_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Finished requests are not left waiting while new ones come."""
    monkeypatch.setattr(recorder, "MAX_BACKLOG_BYTES", 0)
    monkeypatch.setattr(recorder, "MAX_BATCH", 2)
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with running(store=store) as gateway, ThreadPoolExecutor(8) as clients:
            asked = [
                clients.submit(gateway.generate, "openai-chat", HELLO, model="echo", key=f"k{n}")
                for n in range(24)
            ]
            assert {each.result().status for each in asked} == {200}
        assert [each.state for each in store.requests()] == ["answered"] * 24
