"""Models, as the three vendors' own clients list them and ask for one."""

import anthropic
import openai
import pytest
from google import genai
from google.genai import types

from contextwright.models import as_model
from serve.gateways import running
from serve.upstreams import MODELS


@pytest.mark.parametrize("name", ["claude-sonnet-5-5", "org/model-of-nobody"])
def test_a_model_is_described_to_every_client(name: str) -> None:
    facts = as_model(name)
    with running() as gateway:
        ours = openai.OpenAI(api_key="k", base_url=f"{gateway.address}/v1").models.retrieve(name)
        theirs = anthropic.Anthropic(api_key="k", base_url=gateway.address).models.retrieve(name)
        for version in ("v1beta", "v1"):
            options = types.HttpOptions(base_url=gateway.address, api_version=version)
            google = genai.Client(api_key="k", http_options=options)
            model = google.models.get(model=name)
            assert model.name == f"models/{name}"
            limits = (model.input_token_limit, model.output_token_limit)
            assert limits == (facts.max_input, facts.max_output)
    assert (ours.id, ours.object, theirs.id, theirs.type) == (name, "model", name, "model")


def test_models_are_listed_to_every_client() -> None:
    with running() as gateway:
        ours = openai.OpenAI(api_key="k", base_url=f"{gateway.address}/v1").models.list()
        theirs = anthropic.Anthropic(api_key="k", base_url=gateway.address).models.list()
        options = types.HttpOptions(base_url=gateway.address)
        google = genai.Client(api_key="k", http_options=options)
        names = {model.id for model in ours}
        assert names == {model.id for model in theirs}
        assert names == {
            (model.name or "").removeprefix("models/") for model in google.models.list()
        }
    assert {"echo", *MODELS.values()} <= names


@pytest.mark.parametrize("path", ["/v1/models", "/v1beta/models", "/models"])
def test_a_slash_at_the_end_of_the_list_is_not_a_model(path: str) -> None:
    with running() as gateway:
        listed, same = (gateway.ask(one, method="GET").json for one in (path, f"{path}/"))
    assert listed == same
    assert {model["id"] for model in listed["data"]} >= set(MODELS.values())
