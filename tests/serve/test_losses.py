"""What of an answer cannot cross to the client's API is named in its record."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import contextwright as cw
from contextwright.formats.replies.reply import ModelReply
from contextwright.formats.replies.sse import Decoder
from contextwright.store.requests import RecordedRequest
from providers.standin import Request, said, serving
from serve.gateways import Answer, running
from serve.test_translate import request_of
from serve.upstreams import ENVIRONMENT, MODELS, settings_for
from strategies.replies import GROUNDING, OTHERS

per_way = pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
FIRST = {"openai-chat": "choices[0]", "gemini": "candidates[0]"}


def asked(
    client: str, upstream: str, answer: ModelReply, folder: Path, streams: bool
) -> tuple[Answer, RecordedRequest]:
    """What a client gets of an upstream's answer, and the record of it."""
    with cw.Store(folder / "store.db", sync="fast") as store:
        with (
            serving(answer) as server,
            running(
                settings_for(upstream, server), environment=ENVIRONMENT, store=store
            ) as gateway,
        ):
            question = request_of(client, [cw.user("Hello")])
            got = gateway.generate(client, question, model=MODELS[client], streams=streams)
        (record,) = store.requests()
    assert got.status == 200, got.body
    return got, record


@per_way
@pytest.mark.parametrize("upstream", MODELS)
@pytest.mark.parametrize("client", MODELS)
def test_every_field_beside_the_answer_is_named(
    client: str, upstream: str, streams: bool, tmp_path: Path
) -> None:
    fields, of_first = OTHERS[upstream]
    held = {**fields, **({FIRST[upstream]: of_first} if of_first else {})}
    answer = replace(said("Hi."), extra={upstream: held}, source=upstream)
    got, record = asked(client, upstream, answer, tmp_path, streams)
    lost = [change.reason for change in record.changes if change.path == "reply"]
    if client == upstream:
        assert lost == []
        assert all(f'"{name}"' in got.body.decode() for name in (*fields, *of_first))
        return
    names = [*fields, *(f"{FIRST[upstream]}.{name}" for name in of_first)]
    assert lost == [f"{client} has no {', '.join(sorted(names))}"]
    header = got.headers["x-contextwright-changes"]
    assert ("loss.extra" in header) is not streams  # which is sent before the answer is known


def test_what_grounds_an_answer_of_gemini_is_a_loss_for_others(tmp_path: Path) -> None:
    held = {"candidates[0]": {"groundingMetadata": GROUNDING}}
    answer = replace(said("Hi."), extra={"gemini": held}, source="gemini")
    _, record = asked("anthropic", "gemini", answer, tmp_path, streams=True)
    assert [(one.code, one.path, one.reason) for one in record.changes] == [
        ("loss.extra", "reply", "anthropic has no candidates[0].groundingMetadata"),
        ("invent.usage", "reply.usage", "the provider counted no tokens; zeros, as required"),
    ]


ZEROS: dict[str, Any] = {
    "anthropic": {
        "input_tokens": 0,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 0,
    },
    "openai-responses": {
        "input_tokens": 0,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 0,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 0,
    },
}
"""Where clients refuse an answer without a count: Anthropic's SDKs, and Vercel's of Responses."""


@per_way
@pytest.mark.parametrize("upstream", ["openai-chat", "gemini"])
@pytest.mark.parametrize("client", MODELS)
def test_tokens_that_nobody_counted(
    client: str, upstream: str, streams: bool, tmp_path: Path
) -> None:
    got, record = asked(client, upstream, said("Hi."), tmp_path, streams)
    values = Decoder().feed(got.body) if streams else [json.loads(got.body)]
    objects = [value for value in values if isinstance(value, dict)]
    last = [value for value in objects if value.get("type") != "message_stop"][-1]
    end = last.get("response", last)
    zeros = ZEROS.get(client)
    assert end.get("usage", end.get("usageMetadata")) == zeros
    assert zeros is not None or not {"usage", "usageMetadata"} & end.keys()
    assert record.usage is record.price is None
    invented = [change.path for change in record.changes if change.code == "invent.usage"]
    assert invented == (["reply.usage"] if zeros else [])


@per_way
@pytest.mark.parametrize("behind", [False, True], ids=["on the text", "behind it"])
@pytest.mark.parametrize("client", [name for name in MODELS if name != "gemini"])
def test_a_signature_that_is_put_back_is_not_lost(
    client: str, behind: bool, streams: bool, tmp_path: Path
) -> None:
    """Gemini signs texts too, or an empty one behind the last word."""

    def answer(request: Request) -> ModelReply:
        signed = {"gemini": {"thoughtSignature": server.sign("gemini", request.model)}}
        words = [cw.Text("Hi."), cw.Text("", signed)] if behind else [cw.Text("Hi.", signed)]
        return said(*words)

    talk = [cw.user("Hello"), cw.assistant("Hi."), cw.user("And now?")]
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with (
            serving(answer) as server,
            running(
                settings_for("gemini", server), environment=ENVIRONMENT, store=store
            ) as gateway,
        ):
            for end in (1, 3):
                question = request_of(client, talk[:end])
                got = gateway.generate(client, question, model=MODELS[client], streams=streams)
                assert got.status == 200, got.body
        lost = [str(change) for record in store.requests() for change in record.changes]
    first, _ = server.signed
    assert server.returned == {first}
    assert [change for change in lost if change.startswith("loss.")] == []
