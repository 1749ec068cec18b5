"""`/metrics`: what passed, in numbers, for those who show the token."""

from pathlib import Path

import contextwright as cw
from contextwright.formats.replies.events import Usage
from contextwright.serve.recording.metrics import Metrics
from contextwright.store.requests import RecordedRequest
from serve.gateways import TOKEN, running

HELLO = cw.render([cw.user("Hello")], "openai-chat").payload


def test_what_passed_is_counted(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "store.db", sync="fast") as store, running(store=store) as gateway:
        gateway.generate("openai-chat", HELLO, model="echo")
        count = 'upstream="echo",api="openai-chat",mode="translated",state="answered"'
        shown = ""
        while count not in shown:  # it is counted when it is written
            headers = {"authorization": f"Bearer {TOKEN}"}
            shown = gateway.ask("/metrics", headers=headers, method="GET").body.decode()
        assert f"contextwright_requests_total{{{count}}} 1\n" in shown
        assert "contextwright_unrecorded_total 0\n" in shown
        assert "Hello" not in shown
        assert gateway.ask("/metrics", method="GET").status == 401
    with running() as gateway:
        headers = {"authorization": f"Bearer {TOKEN}"}
        assert gateway.ask("/metrics", headers=headers, method="GET").status == 404


def test_a_name_ends_no_label() -> None:
    metrics = Metrics()
    metrics.add(
        RecordedRequest(
            format="anthropic",
            upstream='a"} 1\nb{c="',
            upstream_format="anthropic",
            mode="pass-through",
            model="m",
            sent_model="m",
            state="answered",
            usage=Usage(10, 2, 5),
            price=0.5,
        )
    )
    text = metrics.text(7)
    name = r'upstream="a\"} 1\nb{c=\""'
    assert f'contextwright_tokens_total{{{name},kind="cached"}} 5' in text.splitlines()
    assert f"contextwright_dollars_total{{{name}}} 0.5" in text.splitlines()
    assert "contextwright_waiting_bytes 7" in text.splitlines()
