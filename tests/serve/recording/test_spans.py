"""Spans of OpenTelemetry: what passed, in the client's own trace; content only on request."""

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
from contextwright.errors import MissingExtra
from contextwright.formats.replies.events import ReplyError, Usage
from contextwright.providers.spans import Spans
from contextwright.serve import GatewaySettings, Route, create_app
from providers.standin import KEY, said, serving
from serve.gateways import listening

TRACE = "0af7651916cd43dd8448eb211c80319c"
HEADERS = {
    "x-api-key": KEY,
    "anthropic-version": "1",
    "traceparent": f"00-{TRACE}-b7ad6b7169203331-01",
}
BODY = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 9,
    "temperature": 1,
    "messages": [{"role": "user", "content": f"Hello, my key is {KEY}"}],
}
BUSY = ReplyError("rate_limit", "Slow down", 429)


def spans_of(folder: Path, telemetry: Any, *answers: Any) -> list[ReadableSpan]:
    """The spans of as many requests as there are answers."""
    memory, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    with cw.Store(folder / "store.db", sync="fast") as store, serving(*answers) as server:
        route = Route("*", "anthropic", base_url=server.base_url("anthropic"))
        settings = GatewaySettings((route,), telemetry=telemetry)
        with listening(create_app(settings, store=store, tracer_provider=provider)) as gateway:
            for _ in answers:
                gateway.ask("/v1/messages", BODY, HEADERS)
    return list(memory.get_finished_spans())


def test_a_request_is_a_span(tmp_path: Path) -> None:
    usage = Usage(1_000, 50, cached=600, written=100)
    answered, failed = spans_of(tmp_path, "figures", replace(said("Hi."), usage=usage), BUSY)
    assert (answered.name, answered.kind) == ("chat claude-sonnet-5-5", SpanKind.CLIENT)
    assert answered.parent is not None
    assert answered.parent.trace_id == int(TRACE, 16)
    told = dict(answered.attributes or {})
    assert told.pop("contextwright.first_byte")
    assert told == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-sonnet-5-5",
        "gen_ai.request.max_tokens": 9,
        "gen_ai.request.temperature": 1,
        "gen_ai.conversation.id": "client/1",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 1_000,
        "gen_ai.usage.output_tokens": 50,
        "gen_ai.usage.cache_read.input_tokens": 600,
        "gen_ai.usage.cache_creation.input_tokens": 100,
        "gen_ai.usage.reasoning.output_tokens": 0,
        "http.response.status_code": 200,
        "contextwright.request": 1,
        "contextwright.mode": "pass-through",
        "contextwright.changes": 0,
        "contextwright.price": told["contextwright.price"],
    }
    assert failed.status.status_code is StatusCode.ERROR
    assert (failed.attributes or {})["error.type"] == "rate_limit"


def test_time_and_tokens_are_measured(tmp_path: Path) -> None:
    reader = InMemoryMetricReader()
    answers = (replace(said("Hi."), usage=Usage(1_000, 50, cached=600)), BUSY)
    with cw.Store(tmp_path / "store.db", sync="fast") as store, serving(*answers) as server:
        route = Route("*", "anthropic", base_url=server.base_url("anthropic"))
        settings = GatewaySettings((route,), telemetry="figures")
        app = create_app(settings, store=store, meter_provider=MeterProvider([reader]))
        with listening(app) as gateway:
            for _ in answers:
                gateway.ask("/v1/messages", {**BODY, "stream": True}, HEADERS)
    asked = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-sonnet-5-5",
    }
    found = points_of(reader)
    durations, chunks = (
        found[f"gen_ai.client.operation.{name}"] for name in ("duration", "time_to_first_chunk")
    )
    assert [point.attributes for point in durations] == [
        asked,
        {**asked, "error.type": "rate_limit"},
    ]
    assert [point.attributes for point in chunks] == [asked]
    assert {
        (point.attributes["gen_ai.token.type"], point.sum, point.count)
        for point in found["gen_ai.client.token.usage"]
    } == {("input", 1_000, 1), ("output", 50, 1)}
    assert durations[0].explicit_bounds[:3] == (0.01, 0.02, 0.04)


def points_of(reader: InMemoryMetricReader) -> dict[str, list[Any]]:
    """What was measured, by the name of the metric."""
    data = reader.get_metrics_data()
    assert data is not None
    scopes = [scope for resource in data.resource_metrics for scope in resource.scope_metrics]
    return {
        metric.name: list(metric.data.data_points) for scope in scopes for metric in scope.metrics
    }


def test_content_is_sent_on_request_and_no_key_ever(tmp_path: Path) -> None:
    (plain,) = spans_of(tmp_path, "figures", said("Secretly."))
    assert "Hello" not in plain.to_json()
    (whole,) = spans_of(tmp_path, "content", said("Secretly."))
    told = whole.attributes or {}
    assert "Hello, my key is ****" in str(told["gen_ai.input.messages"])
    assert "Secretly." in str(told["gen_ai.output.messages"])
    assert KEY not in plain.to_json() + whole.to_json()


def test_nothing_is_sent_unless_it_is_wanted(tmp_path: Path) -> None:
    assert spans_of(tmp_path, None, said("Hi.")) == []


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(MissingExtra) as caught:
        Spans()
    assert caught.value.hint == "pip install 'contextwright[otel]'"
