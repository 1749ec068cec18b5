"""The interfaces of agent frameworks, one module each; import the module you need.

`openai_agents` has a session for the OpenAI Agents SDK, `langchain` has `trim_messages` and a chat
history, `langgraph` a node, `pydantic_ai` a history processor, `llama_index` a memory, `google_adk`
a session service, `claude_agent` a session store for the Claude Agent SDK, `mcp` a server with the
tools of a store.
"""
