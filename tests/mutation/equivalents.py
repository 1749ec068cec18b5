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
    (
        "formats/replies/sse.py",
        'elif piece[mark : mark + 1] in b"}]":',
        "the condition is always true",
    ): "only quotes and brackets are found, and the other ones are handled before",
    (
        "formats/aya/format.py",
        "for was, now in zip(found, ordered, strict=True):",
        "True becomes False",
    ): "a list and the same list sorted have one length",
    (
        "formats/aya/format.py",
        'elif role == "assistant":',
        "the condition is always true",
    ): "an entry of any other role is an error anyway",
    (
        "formats/gryag/format.py",
        "needs_user=False,",
        "False becomes True",
    ): "gryag has no rule that would add a user turn; all rules run and change nothing",
    (
        "formats/openai_responses/reply.py",
        "elif isinstance(part, Opaque):",
        "the condition is always true",
    ): "media and results of a reply are taken out before it is written",
    (
        "recall/vectors/rows.py",
        "CANDIDATES, FEWEST = 10, 8_192",
        "8192 becomes 8193",
    ): "one more row is compared exactly, which finds the same or better",
    (
        "windows/history.py",
        "if len(answered) < len(message.results):",
        "the condition is always true",
    ): "a message without orphans is priced as a copy of itself",
    (
        "windows/history.py",
        "if index < self.intact:",
        "the condition is always true",
    ): "an intact message has one form, whose price is the same",
}
"""Why, for the file, the line and the fault of each; no other line of the file is the same."""
