"""To Postgres and many nodes: the same program, another address, and writers that may repeat."""

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

import contextwright as cw

with tempfile.TemporaryDirectory() as folder:
    place = os.environ.get("DATABASE_URL", f"{folder}/chat.db")  # postgresql://host/database
    with cw.Store(place) as store:
        chat = store.conversation("lunch")

        def node(number: int) -> list[int]:
            """A worker: it may run anywhere, and its turn arrives twice."""
            question = cw.user(f"Soup from node {number}?")
            return [chat.add(question, key=f"event-{number}") for _ in range(2)][-1]

        with ThreadPoolExecutor(8) as nodes:
            numbers = sorted(seq for seqs in nodes.map(node, range(20)) for seq in seqs)
        print("without gaps and doubles:", numbers == list(range(1, 21)))
