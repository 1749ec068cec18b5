"""Which program sent a request, by what it calls itself."""

import pytest

from contextwright.serve.sessions import client_of


@pytest.mark.parametrize(
    ("agent", "client"),
    [
        ("claude-cli/2.1.325 (external, cli)", "claude-code/2.1.325"),
        ("OpenAI/Python 3.49.0", "openai/3.49.0"),
        ("AsyncOpenAI/Python 3.49.0", "openai/3.49.0"),
        ("OpenAI/JS 6.10.0", "openai/6.10.0"),
        ("AsyncAnthropic/Python 2.8.0", "anthropic/2.8.0"),
        ("google-genai-sdk/3.3.0 gl-python/3.12.1", "google-genai-sdk/3.3.0"),
        ("node", "node"),
        ("", ""),
    ],
)
def test_a_client_is_known_by_its_name_and_version(agent: str, client: str) -> None:
    assert client_of({"user-agent": agent}) == client
