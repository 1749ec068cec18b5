"""Which program sent a request, by what it calls itself."""

import pytest

from contextwright.serve.calls import read_call
from contextwright.serve.sessions import client_of


@pytest.mark.parametrize(
    ("agent", "client"),
    [
        ("claude-cli/0.24.4 (external, cli)", "claude-cli/0.24.4"),  # Qwen Code
        ("OpenAI/Python 3.49.0", "openai/3.49.0"),
        ("AsyncOpenAI/Python 3.49.0", "openai/3.49.0"),
        ("OpenAI/JS 6.10.0", "openai/6.10.0"),
        ("ls/JS 5.23.2", "anthropic/5.23.2"),  # in a bundle
        ("$t/JS 5.23.2", "anthropic/5.23.2"),
        ("Groq/JS 0.9.0", "groq/0.9.0"),
        ("AsyncAnthropic/Python 2.8.0", "anthropic/2.8.0"),
        ("google-genai-sdk/3.3.0 gl-python/3.12.1", "google-genai-sdk/3.3.0"),
        ("node", "node"),
        ("node/" + 41 * "k", "node"),  # perhaps a key
        (41 * "k", ""),
        ("", ""),
    ],
)
def test_a_client_is_known_by_its_name_and_version(agent: str, client: str) -> None:
    call = read_call("anthropic", "generate", b'{"model": "m"}', {"user-agent": agent})
    assert client_of(call) == client


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b'{"model": "m"}', {"x-claude-code-session-id": "s"}),
        (b'{"model": "m", "metadata": {"user_id": "{\\"session_id\\": \\"s\\"}"}}', {}),
        (b'{"model": "m", "metadata": {"user_id": "user_1_account__session_2"}}', {}),
    ],
)
def test_claude_code_names_its_session(body: bytes, headers: dict[str, str]) -> None:
    agent = {"user-agent": "claude-cli/2.1.325 (external, cli)"}
    call = read_call("anthropic", "generate", body, {**headers, **agent})
    assert client_of(call) == "claude-code/2.1.325"
