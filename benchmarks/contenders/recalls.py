"""Recall: which share of questions gets every message that answers it into a budget?

The talks are those of `benchmarks/recall.py --data`: LoCoMo. A library ranks the messages of a
talk for a question, as `speaker: text`; the best that fit fill the budget, as our own recall does.
All of them get the same embedder, ours, because theirs ask a server or download weights.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, TypeAlias

import recall as ours
from contextwright import Store
from contextwright.recall.vectors.multilingual import multilingual

__all__ = ["recalled"]

BUDGETS = (1_000, 2_000, 4_000)
Talk: TypeAlias = dict[str, Any]
Ask: TypeAlias = Callable[[str, int], list[int]]
"""The places of the messages for a question, best first; all that may fit into so many tokens."""
Learn: TypeAlias = Callable[[Talk, Path], Ask]


def recalled(library: str, data: Path) -> dict[str, Any]:
    """For each way of a library: the share of questions by budget, and CPU times in ms."""
    file = data / "recall" / "locomo.jsonl"
    if not file.exists():
        return {}
    talks = [json.loads(line) for line in file.open(encoding="utf-8")]
    return {name: of_way(learn, talks) for name, learn in WAYS.get(library, {}).items()}


def of_way(learn: Learn, talks: Sequence[Talk]) -> dict[str, Any]:
    whole = dict.fromkeys(BUDGETS, 0)
    asked, learning, asking = 0, 0.0, 0.0
    for talk in talks:
        ids = [said["id"] for said in talk["messages"]]
        prices = [ours.price(ours.message_of(said)) for said in talk["messages"]]
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            start = process_time()
            ask = learn(talk, Path(folder))
            learning += process_time() - start
            for question in talk["questions"]:
                if not question["evidence"] or question["adversarial"]:
                    continue
                asked += 1
                for budget in BUDGETS:
                    start = process_time()
                    ranked = ask(question["q"], budget)
                    asking += process_time() - start
                    held = {ids[place] for place in filled(ranked, prices, budget)}
                    whole[budget] += set(question["evidence"]) <= held
    said = sum(len(talk["messages"]) for talk in talks)
    return {
        "questions": asked,
        "share": {str(budget): count / asked for budget, count in whole.items()},
        "learn": learning / said * 1e3,
        "ask": asking / asked / len(BUDGETS) * 1e3,
    }


def filled(ranked: Sequence[int], prices: Sequence[int], budget: int) -> list[int]:
    """The best that fit."""
    kept: list[int] = []
    for place in ranked:
        if prices[place] <= budget:
            budget -= prices[place]
            kept.append(place)
    return kept


def texts_of(talk: Talk) -> list[str]:
    return [f"{said['speaker']}: {said['text']}" for said in talk["messages"]]


# --- ours, and none --------------------------------------------------------------------------


def contextwright(embedder: Any) -> Learn:
    def learn(talk: Talk, folder: Path) -> Ask:
        store = Store(folder / "talk.db", embedder=embedder, sync="fast")
        ours.fill(store, ours.Set("", [talk]))
        chat, now = store.conversation("0"), ours.now_of(talk)

        def ask(question: str, budget: int) -> list[int]:
            found = chat.recall(question, budget=budget, price=ours.price, now=now, excerpts=False)
            return [hit.seq - 1 for hit in found]

        return ask

    return learn


def newest(talk: Talk, folder: Path) -> Ask:
    places = list(range(len(talk["messages"])))[::-1]
    return lambda question, budget: places


# --- others ----------------------------------------------------------------------------------


def langchain_vectors(talk: Talk, folder: Path) -> Ask:
    from langchain_core.vectorstores import InMemoryVectorStore

    store = InMemoryVectorStore(langchain_embeddings())
    texts = texts_of(talk)
    store.add_texts(texts, metadatas=[{"place": place} for place in range(len(texts))])
    most = len(texts)

    def ask(question: str, budget: int) -> list[int]:
        return [found.metadata["place"] for found in store.similarity_search(question, k=most)]

    return ask


def langchain_embeddings() -> Any:
    from langchain_core.embeddings import Embeddings

    class Ours(Embeddings):
        embed = multilingual()

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return self.embed(texts).tolist()

        def embed_query(self, text: str) -> list[float]:
            return self.embed([text])[0].tolist()

    return Ours()


def langchain_words(talk: Talk, folder: Path) -> Ask:
    retrievers: Any = import_module("langchain_community.retrievers")
    texts = texts_of(talk)
    places = [{"place": place} for place in range(len(texts))]
    retriever = retrievers.BM25Retriever.from_texts(texts, metadatas=places, k=len(texts))
    return lambda question, budget: [
        found.metadata["place"] for found in retriever.invoke(question)
    ]


def llama_index_vectors(talk: Talk, folder: Path) -> Ask:
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.schema import TextNode

    embed = multilingual()

    class Ours(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return embed([text])[0].tolist()

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return embed(texts).tolist()

        def _get_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    nodes = [TextNode(text=text, id_=str(place)) for place, text in enumerate(texts_of(talk))]
    index = VectorStoreIndex(nodes, embed_model=Ours())
    retriever = index.as_retriever(similarity_top_k=len(nodes))
    return lambda question, budget: [int(hit.node.id_) for hit in retriever.retrieve(question)]


def google_adk_words(talk: Talk, folder: Path) -> Ask:
    memory: Any = import_module("google.adk.memory").InMemoryMemoryService()
    event: Any = import_module("google.adk.events").Event
    types: Any = import_module("google.genai.types")
    events = [
        event(
            id=str(place),
            author=said["speaker"],
            content=types.Content(role="user", parts=[types.Part(text=text)]),
        )
        for place, (said, text) in enumerate(zip(talk["messages"], texts_of(talk), strict=True))
    ]
    whose = {"app_name": "talks", "user_id": "talk"}
    asyncio.run(memory.add_events_to_memory(**whose, events=events, session_id="talk"))

    def ask(question: str, budget: int) -> list[int]:
        found = asyncio.run(memory.search_memory(**whose, query=question))
        return [int(hit.id) for hit in found.memories]

    return ask


def mem0_without_model(talk: Talk, folder: Path) -> Ask:
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder), "OPENAI_API_KEY": "none"}
    memory: Any = import_module("mem0").Memory
    store = {"path": str(folder / "vectors"), "embedding_model_dims": 512}
    memory = memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": store},
            "embedder": {"provider": "langchain", "config": {"model": langchain_embeddings()}},
            "history_db_path": str(folder / "history.db"),
        }
    )
    for place, text in enumerate(texts_of(talk)):
        memory.add(text, user_id="talk", infer=False, metadata={"place": place})
    most = len(talk["messages"])

    def ask(question: str, budget: int) -> list[int]:
        found = memory.search(question, filters={"user_id": "talk"}, top_k=most, threshold=0.0)
        return [hit["metadata"]["place"] for hit in found["results"]]

    return ask


WAYS: dict[str, dict[str, Learn]] = {
    "contextwright": {
        "recall": contextwright("multilingual"),
        "recall by words": contextwright(None),
    },
    "by hand": {"the newest messages": newest},
    "langchain": {"InMemoryVectorStore": langchain_vectors, "BM25Retriever": langchain_words},
    "llama-index": {"VectorStoreIndex": llama_index_vectors},
    "google-adk": {"InMemoryMemoryService": google_adk_words},
    "mem0": {"add and search without a model": mem0_without_model},
}
