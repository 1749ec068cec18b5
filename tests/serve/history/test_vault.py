"""What the vault puts back: every signature, in its place, whatever a client made of the rest.

Also after a restart, and in another gateway of the same store.
"""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import contextwright as cw
from contextwright.formats.replies.reply import ModelReply
from contextwright.serve import GatewaySettings
from contextwright.serve.history import vault as vaults
from contextwright.serve.history.vault import History, Vault
from contextwright.serve.reading import Reading
from contextwright.store.recording import BegunRequest, EndedRequest, RequestLog
from contextwright.store.requests import RecordedRequest, RequestBodies
from contextwright.store.rows.recorded import requests, signatures
from contextwright.store.rows.recorded.signatures import SignedAnswer
from profiles import FAULT, examples
from providers.standin import KEY, Request, StandIn, said, serving
from serve.gateways import TOKEN, Running, running
from serve.recording.test_kill import gateway_process
from serve.test_translate import reply_of, request_of
from serve.upstreams import ENVIRONMENT, settings_for

FORMAT = "openai-responses"
WORDS = st.text("ab ", min_size=1, max_size=5).filter(str.strip)
THOUGHTS = st.builds(
    cw.Thinking, WORDS.map(lambda word: f"hm {word}"), st.just("sig"), st.just(FORMAT)
)
TEXTS = st.builds(cw.Text, WORDS)
CALLS = st.builds(cw.ToolCall, st.just("tools__run"), st.dictionaries(WORDS, WORDS, max_size=1))
TALKS = count()
RECORD = RecordedRequest(
    started=requests.moment(datetime.now(UTC)),
    format="anthropic",
    upstream_format=FORMAT,
    upstream="openai",
    mode="translated",
    model="gpt-5.6-sol",
    sent_model="gpt-5.6-sol",
)


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cw.Store]:
    """A store for many examples, each a talk of its own."""
    with cw.Store(tmp_path_factory.mktemp("vault") / "store.db", sync="fast") as store:
        yield store


@st.composite
def answers(draw: st.DrawFn) -> list[Any]:
    """An answer with signed thinking."""
    parts = draw(st.lists(st.one_of(THOUGHTS, TEXTS, CALLS), min_size=1, max_size=5))
    parts.insert(draw(st.integers(0, len(parts))), draw(THOUGHTS))
    if not any(isinstance(part, cw.Text | cw.ToolCall) for part in parts):
        parts.append(cw.Text("yes"))
    return parts


def numbered(parts: Sequence[Any], name: str) -> list[Any]:
    """The same parts, with ids of their own for calls."""
    return [
        replace(part, id=f"{name}-{place}") if isinstance(part, cw.ToolCall) else part
        for place, part in enumerate(parts)
    ]


def sent_back(parts: Sequence[Any], as_text: bool, respells: bool) -> list[Any]:
    """What a client of another API makes of an answer: no signatures, and blanks of its own.

    Semantic Kernel `respells` the names of tools in calls.
    """
    sent: list[Any] = []
    for part in parts:
        if isinstance(part, cw.Thinking):
            sent += [cw.Text(f"{part.text}\n")] if as_text else []
        elif isinstance(part, cw.ToolCall) and respells:
            sent.append(replace(part, name="tools-run"))
        else:
            sent.append(cw.Text(f"{part.text} ") if isinstance(part, cw.Text) else part)
    return sent


def begin(store: cw.Store, history: History) -> int:
    log = RequestLog(store.state, "there/1")
    return log.begin([BegunRequest(RECORD, None, place=history.next_place)])[0]


def end(store: cw.Store, number: int, signed: SignedAnswer | None) -> None:
    record = replace(RECORD, number=number, state="answered")
    ended = EndedRequest(record=record, bodies=RequestBodies(), payload={}, signed=signed)
    RequestLog(store.state, "there/1").finish([ended])


def restored(vault: Vault, history: History) -> cw.Conversation:
    return asyncio.run(vault.restored(history))


def history_of(
    *messages: cw.Message,
    owner: str = "me",
    upstream: str = "there",
    format: str = FORMAT,
    model: str = "any",
    tools: Sequence[cw.Tool] = (),
) -> History:
    said = cw.Conversation(messages, tools=tuple(tools))
    return History(owner, upstream, format, model, Reading({}, said, {}, ()))


@examples(FAULT)
@given(
    talk=st.lists(answers(), min_size=1, max_size=3),
    as_text=st.booleans(),
    respells=st.booleans(),
    keeps_ids=st.booleans(),
    restarts=st.booleans(),
)
def test_every_answer_comes_back_as_it_was_given(
    shared_store: cw.Store,
    talk: list[list[Any]],
    as_text: bool,
    respells: bool,
    keeps_ids: bool,
    restarts: bool,
) -> None:
    """In every later request, to the same gateway or to another one of the same store."""
    number = next(TALKS)
    vault = Vault()
    sent, whole = list[cw.Message](), list[cw.Message]()
    for turn, drawn in enumerate(talk):
        given = numbered(drawn, f"c{number}-{turn}")
        question = cw.user(f"Question {turn} of {number}")
        sent.append(question)
        whole.append(question)
        history = history_of(*sent)
        if restarts:
            vault = Vault(shared_store)
        assert restored(vault, history).messages == tuple(whole)
        for owner, upstream, format in (
            ("another", "there", FORMAT),
            ("me", "elsewhere", FORMAT),
            ("me", "there", "gemini"),
        ):
            other = history_of(*sent, owner=owner, upstream=upstream, format=format)
            assert restored(vault, other) == other.said
        request = begin(shared_store, history)
        end(shared_store, request, vault.keep(history, cw.assistant(given)))
        known = given if keeps_ids else numbered(drawn, f"own-{number}-{turn}")
        sent.append(cw.assistant(sent_back(known, as_text, respells)))
        whole.append(cw.assistant(known))


THINKING = cw.Thinking("Hm.", "sig", FORMAT)


@pytest.mark.parametrize(
    ("sent", "same"),
    [
        ("P__print_word", True),
        ("P-print_word", True),
        ("P.print word", True),
        ("print_word", False),
    ],
)
def test_the_name_in_a_call_may_be_respelt(sent: str, same: bool) -> None:
    vault, question = Vault(), cw.user("Hello")
    answer = cw.assistant([THINKING, cw.ToolCall("P__print_word", {"word": "a"}, "c1")])
    vault.keep(history_of(question), answer)
    back = history_of(question, cw.assistant(cw.ToolCall(sent, {"word": "a"}, "c1")))
    assert restored(vault, back).messages[1] == (answer if same else back.said.messages[1])


def test_the_store_is_asked_once_for_what_it_has_not(
    shared_store: cw.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Sequence[str]] = []
    find = signatures.find

    def counted(connection: Any, tenant: str, digests: Sequence[str]) -> Any:
        asked.append(digests)
        return find(connection, tenant, digests)

    monkeypatch.setattr(signatures, "find", counted)
    vault, sent = Vault(shared_store), [cw.user(f"Talk {next(TALKS)}")]
    for turn in range(3):
        sent += [cw.assistant(f"Answer {turn}"), cw.user("More?")]
        assert restored(vault, history_of(*sent)).messages == tuple(sent)
        assert restored(vault, history_of(*sent, format="openai-chat")).messages == tuple(sent)
    assert [len(digests) for digests in asked] == [1, 1, 1]
    # What this gateway answered without a signature is not looked for at all.
    vault.keep(history_of(*sent), cw.assistant(["Last.", cw.ToolCall("run", {}, "c1")]))
    sent += [cw.assistant(["Last.\n", cw.ToolCall("run", {}, "own")]), cw.tool_result("own", "1")]
    assert restored(vault, history_of(*sent)).messages == tuple(sent)
    assert len(asked) == 3


def test_an_answer_that_another_gateway_is_about_to_record_is_awaited(place: str) -> None:
    with cw.Store(place) as here, cw.Store(place) as there:
        before = history_of(cw.user("Hello"))
        number = begin(there, before)
        answer = cw.assistant([THINKING, "Yes."])
        signed = Vault().keep(before, answer)
        after = history_of(cw.user("Hello"), cw.assistant("Yes."), cw.user("Why?"))

        async def ask() -> cw.Conversation:
            asked = asyncio.create_task(Vault(here).restored(after))
            await asyncio.wait([asked], timeout=0.1)
            assert not asked.done()
            await asyncio.to_thread(end, there, number, signed)
            return await asked

        assert asyncio.run(ask()).messages[1] == answer


def test_no_request_waits_for_long(
    shared_store: cw.Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(vaults, "PATIENCE", 0.05)
    opening = cw.user(f"Talk {next(TALKS)}")
    vault, before = Vault(shared_store), history_of(opening)
    number = begin(shared_store, before)
    after = history_of(opening, cw.assistant("Yes."))
    assert restored(vault, after) == after.said
    assert caplog.text.count("signatures were not found in time") == 1
    # Only the newest answer is waited for; an earlier one is still found when it comes.
    vault.keep(after, cw.assistant("Well."))
    later = history_of(*after.said.messages, cw.assistant("Well."))
    assert restored(vault, later) == later.said
    answer = cw.assistant([THINKING, "Yes."])
    end(shared_store, number, Vault().keep(before, answer))
    assert restored(vault, later).messages == (opening, answer, cw.assistant("Well."))
    assert caplog.text.count("signatures were not found in time") == 1


def test_an_answer_of_a_gateway_that_was_killed_is_not_awaited(
    shared_store: cw.Store, caplog: pytest.LogCaptureFixture
) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    opening = cw.user(f"Talk {next(TALKS)}")
    log = RequestLog(shared_store.state, f"{socket.gethostname()}/{gone.pid}")
    log.begin([BegunRequest(RECORD, None, place=history_of(opening).next_place)])
    after = history_of(opening, cw.assistant("Yes."))
    assert restored(Vault(shared_store), after) == after.said
    assert caplog.text == ""


def test_a_store_that_fails_stops_no_request(
    tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        store.engine.write_alone(lambda one: one.run("DROP TABLE signatures"))
        after = history_of(cw.user("Hello"), cw.assistant("Yes."))
        assert restored(Vault(store), after) == after.said
    assert "signatures were not read" in caplog.text


# --- through gateways --------------------------------------------------------------------------

CLIENTS = {"gemini": "anthropic", "anthropic": "openai-chat", "openai-responses": "gemini"}
"""A client of another API for each upstream that signs."""
UPSTREAMS = pytest.mark.parametrize("upstream", CLIENTS)
QUESTION = cw.user("What are 1 + 2 and 3 + 4?")


def signing(server: StandIn, words: str = "Hm.") -> Any:
    """Answers with two signed calls, then with words."""

    def answer(request: Request) -> ModelReply:
        if request.number:
            return said("It is 3 and 7.")
        calls = [cw.ToolCall("add", {"a": number}, f"call_{number}") for number in (1, 2)]
        signature = server.sign(request.format, request.model)
        if request.format == "gemini":
            signed = {"gemini": {"thoughtSignature": signature}}
            return said(words, cw.ToolCall("add", {"a": 1}, "call_1", extra=signed), calls[1])
        thinking = cw.Thinking(words, signature=signature, origin=request.format)
        return said(thinking, *calls)

    return answer


def ask(
    gateway: Running, client: str, messages: list[cw.Message], key: str = TOKEN
) -> list[cw.Message]:
    """The messages with the answer, as the client keeps it, and with the results of its calls."""
    body = request_of(client, messages)
    answer = gateway.generate(client, body, model="any", streams=True, key=key)
    assert answer.status == 200, answer.body
    message = reply_of(answer.body, client, streams=True).message
    kept = [part for part in message.parts if not isinstance(part, cw.Thinking)]
    results = [cw.tool_result(call.id or "", "3") for call in message.calls]
    return [*messages, cw.assistant(kept), *results]


@UPSTREAMS
def test_they_are_put_back_after_a_restart(place: str, upstream: str) -> None:
    with serving() as server:
        server.answers = [signing(server)]
        history = [QUESTION]
        for _ in range(2):
            with (
                cw.Store(place) as store,
                running(
                    settings_for(upstream, server), environment=ENVIRONMENT, store=store
                ) as gateway,
            ):
                history = ask(gateway, CLIENTS[upstream], history)
        assert server.refused == []
        assert server.returned == set(server.signed) != set()


@UPSTREAMS
def test_another_gateway_puts_them_back_at_once(
    place: str, upstream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vaults, "PATIENCE", 60)  # a machine may be busy
    with serving() as server, cw.Store(place) as here, cw.Store(place) as there:
        server.answers = [signing(server)]
        settings = settings_for(upstream, server)
        with (
            running(settings, environment=ENVIRONMENT, store=here) as one,
            running(settings, environment=ENVIRONMENT, store=there) as other,
        ):
            history = ask(one, CLIENTS[upstream], [QUESTION])
            ask(other, CLIENTS[upstream], history)
        assert server.returned == set(server.signed) != set()


@pytest.mark.slow
def test_they_outlive_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`cw serve`, ended between two turns of one session."""
    monkeypatch.setenv("UPSTREAM_KEY", KEY)
    with serving() as server:
        server.answers = [signing(server)]
        route = settings_for("gemini", server).routes[0]
        rest = f'send_as = "{route.send_as}"\nkey_variable = "UPSTREAM_KEY"'
        history = [QUESTION]
        for _ in range(2):
            with gateway_process(tmp_path, route.base_url or "", "gemini", rest) as (process, url):
                gateway, key = Running(int(url.rpartition(":")[2])), tmp_path / "token"
                history = ask(gateway, "anthropic", history, key.read_text().strip())
                process.terminate()
                process.wait(20)
        assert server.returned == set(server.signed) != set()


@pytest.mark.parametrize("off", [{"record": False}, {"redact": "content"}], ids=str)
def test_without_records_they_are_in_memory_only(tmp_path: Path, off: dict[str, Any]) -> None:
    with serving() as server, cw.Store(tmp_path / "store.db", sync="fast") as store:
        server.answers = [signing(server, "Secretly")]
        (route,) = settings_for("gemini", server).routes
        settings = GatewaySettings((route,), **off)
        with running(settings, environment=ENVIRONMENT, store=store) as gateway:
            history = ask(gateway, "anthropic", [QUESTION])
            ask(gateway, "anthropic", history)
        assert server.returned == set(server.signed) != set()
        rows = "SELECT count(*) FROM signatures"
        assert store.engine.read(lambda one: one.rows(rows)) == [(0,)]
    assert not any(b"Secretly" in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.parametrize("secret", [KEY, TOKEN])
def test_no_key_is_stored_with_them(tmp_path: Path, secret: str) -> None:
    """Neither the owner's nor one that the model repeats: such an answer is not stored."""
    with serving() as server, cw.Store(tmp_path / "store.db", sync="fast") as store:
        settings = settings_for("gemini", server)
        with running(settings, environment=ENVIRONMENT, store=store) as gateway:
            for words in ("Hm.", f"The key is {secret}."):
                server.answers = [signing(server, words)]
                server.bodies.clear()
                ask(gateway, "anthropic", [cw.user(f"Talk {len(server.signed)}")])
        (row,) = store.engine.read(lambda one: one.rows(signatures.SELECT, 1))
        assert signatures.decode(row[2])[0] == cw.Text("Hm. ")
        assert store.engine.read(lambda one: one.rows(signatures.SELECT, 2)) == []
        for file in tmp_path.iterdir():
            assert secret.encode() not in file.read_bytes()


SIGNED: list[tuple[Any, list[str]]] = [
    (cw.Text("Hi"), []),
    (cw.Thinking("Hm", signature="c2ln", origin="anthropic"), ["anthropic"]),
    (cw.Thinking("Hm", origin="anthropic"), []),
    (cw.Opaque("anthropic", {"type": "redacted_thinking", "data": "x"}), ["anthropic"]),
    (cw.Opaque("openai-responses", {"type": "compaction"}), ["openai-responses"]),
    (cw.ToolCall("f", {}, "c1"), []),
    (cw.ToolCall("f", {}, "c1", extra={"gemini": {"thoughtSignature": "c2ln"}}), ["gemini"]),
    (cw.ToolCall("f", {}, "c1", extra={"gemini": {"thoughtSignature": vaults.STAND_IN}}), []),
]


@pytest.mark.parametrize(("part", "formats"), SIGNED)
def test_which_parts_a_provider_wants_back(part: Any, formats: list[str]) -> None:
    known = ("anthropic", "gemini", "openai-chat", "openai-responses")
    assert [one for one in known if vaults.has_signature([part], one)] == formats
