"""Spans of requests that a program sends itself: in its own trace, content only on request."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

import contextwright as cw
from contextwright.errors import MissingExtra, ProviderError, UsageError
from contextwright.formats.replies.events import ReplyError, Usage
from contextwright.providers import Script, SyncProvider, TracedProvider, connect
from providers.standin import KEY, BreakOff, said, serving

PAYLOAD: dict[str, Any] = {
    "max_tokens": 9,
    "temperature": 1,
    "messages": [{"role": "user", "content": f"Hello, my key is {KEY}"}],
}
MODEL = "claude-sonnet-5-5"
USAGE = Usage(1_000, 50, cached=600, written=100)


class Trace:
    """A program that has OpenTelemetry."""

    def __init__(self) -> None:
        self.memory, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self.memory))
        self.meters = MeterProvider([self.reader])

    def around(self, provider: Any, telemetry: Any = "figures") -> SyncProvider:
        """A provider whose requests are traced."""
        traced = TracedProvider(
            provider, telemetry, tracer_provider=self.tracers, meter_provider=self.meters
        )
        return SyncProvider(traced)

    @property
    def spans(self) -> list[ReadableSpan]:
        """What came so far."""
        return list(self.memory.get_finished_spans())


def asked(*answers: Any, telemetry: Any = "figures") -> Trace:
    """The trace of as many requests as there are answers; errors are expected."""
    trace = Trace()
    with serving(*answers) as server:
        host = connect("anthropic", KEY, base_url=server.base_url("anthropic"), retries=None)
        with trace.around(host, telemetry) as provider:
            for _ in answers:
                try:
                    provider.send(PAYLOAD, model=MODEL)
                except ProviderError:
                    pass
    return trace


def test_a_request_is_a_span() -> None:
    invalid = ReplyError("invalid", "No", 400)
    answered, failed = asked(replace(said("Hi."), usage=USAGE), invalid).spans
    assert (answered.name, answered.kind) == (f"chat {MODEL}", SpanKind.CLIENT)
    assert answered.status.status_code is StatusCode.UNSET
    assert dict(answered.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": MODEL,
        "gen_ai.request.max_tokens": 9,
        "gen_ai.request.temperature": 1,
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 1_000,
        "gen_ai.usage.output_tokens": 50,
        "gen_ai.usage.cache_read.input_tokens": 600,
        "gen_ai.usage.cache_creation.input_tokens": 100,
        "gen_ai.usage.reasoning.output_tokens": 0,
    }
    assert failed.status.status_code is StatusCode.ERROR
    told = failed.attributes or {}
    assert (told["error.type"], told["http.response.status_code"]) == ("invalid", 400)


def test_an_answer_that_breaks_off_is_an_error() -> None:
    (span,) = asked(BreakOff(said("A long answer that breaks off."), 1)).spans
    assert (span.attributes or {})["error.type"] == "connection"


def test_content_is_told_on_request_and_no_key_ever() -> None:
    (plain,) = asked(said("Secretly.")).spans
    (whole,) = asked(said("Secretly."), telemetry="content").spans
    assert "Hello" not in plain.to_json()
    told = whole.attributes or {}
    assert "Hello, my key is …" in str(told["gen_ai.input.messages"])
    assert "Secretly." in str(told["gen_ai.output.messages"])
    assert KEY not in plain.to_json() + whole.to_json()


def test_a_stream_that_nobody_reads_to_its_end_is_interrupted() -> None:
    trace = Trace()
    provider = TracedProvider(Script([said("One two three four")]), tracer_provider=trace.tracers)

    async def stop_early() -> None:
        stream = provider.stream(PAYLOAD, model="m")
        await anext(stream)
        await stream.aclose()

    asyncio.run(stop_early())
    (span,) = trace.spans
    assert (span.attributes or {})["error.type"] == "interrupted"


def test_requests_of_a_question_are_in_the_trace_of_the_program(tmp_path: Path) -> None:
    def weather(city: str) -> str:
        """The weather in a city."""
        return f"Sunny in {city}."

    call = cw.assistant(cw.ToolCall("weather", {"city": "Kyiv"}, id="c1"))
    trace = Trace()
    script = Script([call, said("Sunny.")])
    traced = TracedProvider(script, tracer_provider=trace.tracers, meter_provider=trace.meters)
    with (
        cw.Store(tmp_path / "store.db") as store,
        trace.tracers.get_tracer("program").start_as_current_span("work") as work,
    ):
        chat = store.conversation("talk")
        chat.ask("Weather?", model="gpt-5.6-sol", provider=traced, tools=[weather])
    first, second, _ = trace.spans
    for span in (first, second):
        assert span.parent is not None
        assert span.parent.span_id == work.get_span_context().span_id
        told = span.attributes or {}
        assert (told["gen_ai.provider.name"], told["gen_ai.conversation.id"]) == ("script", "talk")
    assert (first.attributes or {})["gen_ai.response.finish_reasons"] == ("tool_calls",)
    data = trace.reader.get_metrics_data()
    assert data is not None
    names = {
        metric.name
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    assert "gen_ai.client.operation.duration" in names


def test_telemetry_is_an_option_of_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(connect("echo", telemetry="figures"), TracedProvider)
    with pytest.raises(UsageError, match="'figures' or 'content'"):
        connect("echo", telemetry="all")  # pyright: ignore[reportArgumentType]
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    assert not isinstance(connect("echo"), TracedProvider)
    with pytest.raises(MissingExtra) as caught:
        connect("echo", telemetry="figures")
    assert caught.value.hint == "pip install 'contextwright[otel]'"
