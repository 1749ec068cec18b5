"""Settings of a gateway that sends all requests to one upstream, played by the stand-in."""

from contextwright.serve import GatewaySettings, Route
from providers.standin import KEY, StandIn

FORMATS = ("openai-chat", "openai-responses", "anthropic", "gemini")
PAIRS = [(one, other) for one in FORMATS for other in FORMATS if one != other]
MODELS = {
    "openai-chat": "gpt-5.6-sol",
    "openai-responses": "gpt-5.6-sol",
    "anthropic": "claude-sonnet-5-5",
    "gemini": "gemini-3.8-flash",
}
HOSTS = {"openai-chat": "openrouter"}
"""Under the name `openai`, clients of Responses would be sent on as they are."""
ENVIRONMENT = {"UPSTREAM_KEY": KEY}


def settings_for(format: str, server: StandIn) -> GatewaySettings:
    """All models go to one upstream in its API, with a key of the gateway's own."""
    route = Route(
        "*",
        HOSTS.get(format, format),
        base_url=server.base_url(format),
        send_as=MODELS[format],
        key_variable="UPSTREAM_KEY",
        mend=True,
    )
    return GatewaySettings((route,))


def open_settings(format: str, server: StandIn) -> GatewaySettings:
    """All requests go to one upstream as they are, with the client's own key."""
    name = "openai" if format.startswith("openai") else format
    return GatewaySettings((Route("*", name, base_url=server.base_url(format)),))
