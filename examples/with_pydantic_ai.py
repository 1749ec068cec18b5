"""Pydantic AI: a history processor within a budget."""

from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from contextwright.integrations.pydantic_ai import history_processor


def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    return ModelResponse([TextPart(f"The model sees {len(messages)} messages.")])


trim = history_processor("gpt-5.6-sol", budget=200)
agent = Agent(FunctionModel(answer), capabilities=[ProcessHistory(trim)])
history: list[ModelMessage] = []
for number in range(30):
    history = agent.run_sync(f"Lunch for {number}?", message_history=history).all_messages()
print(history[-1].parts[0])
