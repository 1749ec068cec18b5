"""From mem0: memories and what was said, without asking a model for either."""

import tempfile

import contextwright as cw

with tempfile.TemporaryDirectory() as folder, cw.Store(f"{folder}/chat.db") as store:
    # memory.add("Is vegetarian", user_id="alice")
    store.remember("Is vegetarian", about="alice")

    # memory.add(messages, user_id="alice"): messages stay as they were said
    chat = store.conversation("alice")
    chat.add(cw.user("I moved to Lviv last week.", author=cw.Author("alice", "Alice")))
    chat.add(cw.assistant("How do you like it?"))

    # memory.search("Where does she live?", user_id="alice")
    print(chat.recall("Where does Alice live? In Lviv?", budget=200).text)
    print([stored.memory.text for stored in store.memories(about="alice")])

    # what goes into the prompt, and what it costs
    chat.add(cw.user("What should I cook?", author=cw.Author("alice", "Alice")))
    recipe = cw.Recipe(system=("You cook.", cw.Memories()), budget=2_000)
    print(chat.context(recipe, model="gpt-5.6-sol").sections)

    # memory.delete_all(user_id="alice"): words, index and vectors
    print(store.erase_person("alice", scrub=False).messages, "messages erased")
