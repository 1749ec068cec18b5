"""Recorded requests as spans and metrics of OpenTelemetry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from contextwright.errors import MissingExtra
from contextwright.providers.spans import Exchange, Spans, written
from contextwright.serve.recording.outcome import Transcript
from contextwright.store.recording import EndedRequest
from contextwright.store.requests import RecordedRequest

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

__all__ = ["RequestSpans", "measure_to_collector", "send_to_collector"]


class RequestSpans:
    """Makes a span of each request that is over, in the trace that the client names.

    With `content`, spans hold what was said; never a key.
    """

    def __init__(self, spans: Spans, *, content: bool = False) -> None:
        self.spans, self.content = spans, content

    def send(self, transcript: Transcript, ended: EndedRequest, record: RecordedRequest) -> None:
        """Make the span of one request."""
        others = dict(facts_of(record))
        if self.content and ended.said is not None:
            others["gen_ai.input.messages"] = written(ended.said.messages)
            others["gen_ai.output.messages"] = written([ended.reply] if ended.reply else [])
        exchange = Exchange(
            host=record.upstream,
            format=record.upstream_format,
            model=record.sent_model,
            payload=ended.payload,
            started_ns=transcript.outcome.started_ns,
            seconds=record.seconds or 0.0,
            first_chunk=record.first_byte if record.streams else None,
            error="" if record.state == "answered" else record.error or record.state,
            is_answered=record.state != "failed",
            finish=record.finish,
            usage=record.usage,
            status=record.status,
            conversation=record.conversation or record.session,
            others=others,
        )
        self.spans.send(exchange, self.spans.named_in(transcript.call.headers))


def facts_of(record: RecordedRequest) -> Iterator[tuple[str, Any]]:
    """Yield what only a record knows of a request."""
    yield "contextwright.request", record.number
    yield "contextwright.client", record.client
    yield "contextwright.mode", record.mode
    yield "contextwright.price", record.price
    yield "contextwright.first_byte", record.first_byte
    yield "contextwright.changes", len(record.changes)
    if record.prefix is not None:
        yield "contextwright.prefix.share", record.prefix.share
        yield "contextwright.prefix.cause", record.prefix.cause


def send_to_collector() -> TracerProvider:
    """Return a provider that sends spans where OpenTelemetry's own variables (`OTEL_…`) say.

    Raises:
        MissingExtra: OpenTelemetry is not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise MissingExtra("telemetry", "otel") from error
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def measure_to_collector() -> MeterProvider:
    """Return a provider that sends metrics where OpenTelemetry's own variables (`OTEL_…`) say.

    Raises:
        MissingExtra: OpenTelemetry is not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    except ImportError as error:
        raise MissingExtra("telemetry", "otel") from error
    return MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())])
