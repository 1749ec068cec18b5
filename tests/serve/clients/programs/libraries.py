"""Asks one question with a library that is told nothing of a gateway: LIBRARY PROVIDER/MODEL."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false

import asyncio
import os
import sys

QUESTION = "How are you?"


def smolagents(provider: str, model: str) -> object:
    from smolagents import ChatMessage, LiteLLMModel, OpenAIModel

    own = provider == "openai"
    asked = OpenAIModel(model_id=model) if own else LiteLLMModel(model_id=f"{provider}/{model}")
    content = [{"type": "text", "text": QUESTION}]
    return asked.generate([ChatMessage(role="user", content=content)]).content


def dspy(provider: str, model: str) -> object:
    from dspy import LM

    return LM(f"{provider}/{model}", cache=False)(QUESTION)


def openhands(provider: str, model: str) -> object:
    from openhands.sdk import LLM, Message, TextContent

    key = os.environ[f"{provider.upper()}_API_KEY"]
    asked = LLM(model=f"{provider}/{model}", api_key=key, usage_id="agent")
    message = Message(role="user", content=[TextContent(text=QUESTION)])
    return asked.completion([message]).message.content


def browser_use(provider: str, model: str) -> object:
    from browser_use import ChatAnthropic, ChatGoogle, ChatOpenAI
    from browser_use.llm.messages import UserMessage

    key = os.environ[f"{provider.upper()}_API_KEY"]
    chat = {"openai": ChatOpenAI, "anthropic": ChatAnthropic, "gemini": ChatGoogle}[provider]
    asked = chat(model=model, api_key=key).ainvoke([UserMessage(content=QUESTION)])
    return asyncio.run(asked).completion


def autogen(_: str, model: str) -> object:
    from autogen_core.models import UserMessage
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    asked = OpenAIChatCompletionClient(model=model)
    return asyncio.run(asked.create([UserMessage(content=QUESTION, source="user")])).content


def main(library: str, name: str) -> None:
    print(globals()[library](*name.split("/")))


main(*sys.argv[1:])
