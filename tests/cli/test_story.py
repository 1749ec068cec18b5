"""Commands on a store and on files, one after the other: all that they print."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from commands import Run
from golden_files import compare
from samples.stores.chat import CHAT

STORY = """
add lunch "Suggest lunch options please." --author U1
add lunch "Where do you want to eat?" --role assistant
add lunch "Near the station, I am vegetarian." --author U1 --at 2026-03-01T12:00:00Z --json
add lunch - --author U2 --key once <<< "Me too."
add lunch - --author U2 --key once <<< "Me too."
append-stream <<< '{"conversation":"dinner","key":"k1","messages":[{"role":"user","content":"?"}]}'
append-stream --replace-invalid <<< \
'{"conversation":"tea","messages":[{"role":"user","content":"zero \\u0000"}]}'
append-stream <<< '[1]'
append-stream <<< '{"conversation": "dinner", "key": "k3"}'
import chat.json --as clock
import chat.json --as clock
import chat.json --as clock --json
import chat.json chat.json --as clock
list
list --limit 1 --json
read lunch
read lunch --tail 1 --json
read lunch --first 2 --last 3
read clock
dump lunch
dump clock
pin lunch 1
pin lunch 1 2 --json
unpin lunch 1 2
unpin lunch 1 --json
hide lunch 2
hide lunch 2 3 --json
read lunch
show-again lunch 2 3
show-again lunch 2 --json
edit lunch 3 "Near the harbour, I am vegetarian."
edit lunch 3 - --json <<< "Near the harbour, I am vegan."
search station
search vegan
search vegan --json
search vegan --conversation dinner
recall "Who is vegan?" --embedder none
recall "Who is vegan?" --embedder none --explain
recall "Who is vegan?" --embedder none --limit 1 --json
recall "Who likes chess?" --embedder none
remember U1 "Likes coffee"
remember U1 "Has a dog" --kind fact --json
memories U1
memories U1 --json
memories U2
forget-memory MEMORY-1
forget-memory MEMORY-1
forget-memory MEMORY-2 --json
episodes lunch
episodes lunch --json
show lunch
export lunch --format openai-chat
export lunch --format anthropic --changes
build lunch --model gpt-4o --budget 500
explain lunch --model gpt-4o --budget 500
explain clock --model gpt-4o --budget 70
explain clock --model gpt-4o --budget 20
explain dinner --model gpt-4o --json
diff lunch --model gpt-4o --at 2
diff lunch --model gpt-4o --at 2 --json
diff lunch clock --model gpt-4o
check chat.json --model gpt-4o
check broken.json --model gpt-4o
check broken.json --model gpt-4o --json
fix chat.json --model gpt-4o -o fixed.json
fix broken.json --model gpt-4o
convert broken.json --to anthropic --model claude-sonnet-5-5
convert chat.json --to aya --changes
count chat.json --model gpt-4o
count chat.json --model gpt-4o --json
count "How long is a piece of string?" --model gpt-4o
show chat.json
simulate chat.json --model gpt-4o --budget 500
simulate chat.json --model gpt-4o --budget 500 --json
summarise lunch --model gpt-4o
summarise lunch --model gpt-4o --recipe short.toml --show
summarise lunch --model gpt-4o --recipe short.toml
summarise lunch --model gpt-4o --recipe short.toml
summarise lunch --model gpt-4o --recipe short.toml --show
summarise lunch --model gpt-4o --recipe short.toml --show --json
summarise lunch --model gpt-4o --recipe short.toml --undo
explain lunch --model gpt-4o --recipe short.toml
rename lunch snack
rename snack lunch --json
rename dinner lunch
erase lunch 4
erase lunch 3 --json
rm dinner tea
rm dinner
rm lunch --json
requests
requests --json
tenants
tenants --json
doctor
doctor --json
backup copy.db
backup copy.db
backup other.db --json
copy copy.db third.db
copy copy.db third.db --json
formats
recipes
"""
BROKEN = {"messages": [*CHAT["messages"][:2], {"role": "user", "content": "Well?"}]}
SHORT = 'system = ["Be short."]\nbudget = 48\nsummary = true\n'


def test_all_that_commands_print(own_store: None, cw: Run, tmp_path: Path) -> None:
    (tmp_path / "chat.json").write_text(json.dumps(CHAT))
    (tmp_path / "broken.json").write_text(json.dumps(BROKEN))
    (tmp_path / "short.toml").write_text(SHORT)
    told: list[str] = []
    memories: list[str] = []
    for line in filter(None, STORY.splitlines()):
        words, _, said = line.partition(" <<< ")
        for number, id in enumerate(memories, start=1):
            words = words.replace(f"MEMORY-{number}", id)
        code, out, err = cw(*shlex.split(words), input="".join(shlex.split(said)).encode())
        if words.startswith("remember "):
            memories += re.findall("[0-9a-f]{16}", out)
        told += [f"$ cw {line}", out + err + (f"exit code {code}\n" if code else "")]
    compare("commands", lasting("\n".join(told), memories, tmp_path))


def lasting(text: str, memories: list[str], folder: Path) -> str:
    """What does not change from one run or machine to the next."""
    for number, id in enumerate(memories, start=1):
        text = text.replace(id, f"MEMORY-{number}".ljust(16, "-"))
    text = text.replace(str(folder), "FOLDER")
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(Z| UTC)", "TIME", text)
    text = re.sub(r"\b[0-9a-f]{32}\b", "DIGEST", text)
    text = re.sub(r"(SQLite\W+)3[.\d]+|(tables\W+version )\d+", r"\1\2VERSION", text)
    return re.sub(r'[\d,]{7} bytes|(?<="bytes": )\d+', "SIZE", text)
