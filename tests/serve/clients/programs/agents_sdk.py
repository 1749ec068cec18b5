"""Asks twice with the OpenAI Agents SDK: ADDRESS KEY FORMAT MODEL FIRST SECOND."""

# pyright: reportMissingImports=false

import sys
from typing import Any

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI


@function_tool
def print_word(word: str) -> str:
    """Print a word."""
    return f"42-{word}"


def main(address: str, key: str, format: str, model: str, *questions: str) -> None:
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=f"{address}/v1", api_key=key)
    kind = OpenAIChatCompletionsModel if format == "openai-chat" else OpenAIResponsesModel
    agent = Agent(name="Printer", model=kind(model, client), tools=[print_word])
    history: list[Any] = []
    for question in questions:
        result = Runner.run_sync(agent, [*history, {"role": "user", "content": question}])
        history = result.to_input_list()
        print(result.final_output)


main(*sys.argv[1:])
