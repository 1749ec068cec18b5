"""Asks twice with LangChain: ADDRESS KEY FORMAT MODEL FIRST SECOND."""

# pyright: reportMissingImports=false, reportFunctionMemberAccess=false

import sys
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.tools import tool


@tool
def print_word(word: str) -> str:
    """Print a word."""
    return f"42-{word}"


def connect(address: str, key: str, format: str, model: str) -> Any:
    if format == "anthropic":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(model=model, base_url=address, api_key=key)
    if format == "gemini":
        from langchain_google_genai import ChatGoogleGenerativeAI

        return ChatGoogleGenerativeAI(model=model, base_url=address, api_key=key)
    from langchain_openai import ChatOpenAI

    responses = format == "openai-responses"
    return ChatOpenAI(
        model=model, base_url=f"{address}/v1", api_key=key, use_responses_api=responses
    )


def main(address: str, key: str, format: str, model: str, *questions: str) -> None:
    chat = connect(address, key, format, model).bind_tools([print_word])
    messages: list[Any] = []
    for question in questions:
        messages.append(HumanMessage(question))
        while True:
            chunks = iter(chat.stream(messages))
            message = next(chunks)
            for chunk in chunks:
                message += chunk
            messages.append(message)
            if not message.tool_calls:
                break
            messages += [print_word.invoke(call) for call in message.tool_calls]
        print(message.text)


main(*sys.argv[1:])
