"""The interfaces of agent frameworks, one module each; import the module you need.

`openai_agents` has a session for the OpenAI Agents SDK, `langchain` has `trim_messages` and a chat
history, `pydantic_ai` has a history processor, `mcp` a server with
the tools of a store.
"""
