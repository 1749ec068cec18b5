"""Records of requests that passed through a gateway."""

from contextwright.store.requests import RecordedRequest

PASSED = RecordedRequest(
    started="2026-11-16T07:00:00.000Z",
    format="openai-chat",
    upstream_format="openai-chat",
    upstream="openai",
    mode="pass-through",
    model="gpt-4o",
    sent_model="gpt-4o",
)
TRANSLATED = RecordedRequest(
    started="2026-11-16T07:00:00.000Z",
    session="s1",
    client="claude-cli/2.1",
    format="anthropic",
    upstream_format="gemini",
    upstream="gemini",
    mode="translated",
    model="claude-sonnet-5-5",
    sent_model="gemini-3.8-flash",
)
