"""Faults that no test can notice, because nothing that can be seen from outside changes."""

EQUIVALENT: dict[tuple[str, str, str], str] = {
    (
        "context/build.py",
        "return replace(context, changes=(*read, *context.changes)) if read else context",
        "the condition is always true",
    ): "a context with no changes added is equal to itself",
    (
        "context/prompt_cache.py",
        "room = LOOKBACK if self.marked else 1",
        "1 becomes 2",
    ): "without marks every prefix is an end itself, so the one before is looked at anyway",
    (
        "formats/openai_responses/stream.py",
        "if error is not None:",
        "the condition is always true",
    ): "an event is an object, and an object always makes an error; the check is for its type",
    (
        "store/records.py",
        "class MemoryChanges(TypedDict, total=False):",
        "False becomes True",
    ): "only a type checker reads it, and pyright notices",
    (
        "store/recall/episodes.py",
        "if head is conversations.NOTHING:",
        "the condition is always true",
    ): "a conversation without a state is one that another process has just removed",
    (
        "windows/tail.py",
        "names = self.labels.add if self.labels.label else None",
        "the condition is always true",
    ): "without a label, adding a name costs nothing; the check saves a call",
}
"""Why, for the file, the line and the fault of each."""
