"""A data set as requests for OpenAI's Batch API, and in a dataframe of your own."""

import json
import tempfile
from pathlib import Path

import daft

from contextwright import batch

chats = [{"messages": [{"role": "user", "content": f"Lunch for {n}?"}]} for n in range(1_000)]

with tempfile.TemporaryDirectory() as folder:
    source = Path(folder, "chats.jsonl")
    source.write_text("".join(json.dumps(chat) + "\n" for chat in chats))
    job = batch.Job(
        operation=batch.operation_of("convert", target="openai-batch", model="gpt-5.6-sol"),
        output=batch.Place(f"{folder}/out"),
    )
    done = batch.run(job, [str(source)])
    print(f"{done.rows} rows, {done.rejected} rejected, {len(done.shards)} file")
    print(Path(folder, "out", "part-00000.jsonl").read_text().splitlines()[0])

frame = daft.from_pydict({"chat": [json.dumps(chat) for chat in chats[:2]]})
frame = batch.count(frame, "chat", model="gpt-5.6-sol")
print([json.loads(row["result"]["document"])["tokens"] for row in frame.to_pylist()])
