"""Faults that no test can notice, because nothing that can be seen from outside changes."""

EQUIVALENT: dict[tuple[str, str, str], str] = {
    (
        "serve/guard.py",
        'file.write(f"{secrets.token_urlsafe(32)}\\n")',
        "32 becomes 33",
    ): "a token of one more byte is as good",
    (
        "context/simulation/prompt_cache.py",
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
        "CANDIDATES_PER_RESULT, MIN_CANDIDATES = 10, 8_192",
        "8192 becomes 8193",
    ): "one more row is compared exactly, which finds the same or better",
    (
        "windows/log.py",
        "if type(part) is Text and not part.extra:",
        "Not is left out",
    ): "a shorter way for plain text; the longer one notes the same",
    (
        "tokens/pricer.py",
        "return sum(self.count(part) for part in parts if part) + marks",
        "nothing is filtered",
    ): "an empty text has no tokens; the filter saves calls",
    (
        "tokens/tokenizers.py",
        'return 0 if text.isascii() else len(text) - len(text.encode("ascii", "ignore"))',
        "the condition is always false",
    ): "the difference is 0 for ASCII; the check saves an encoding",
    (
        "formats/rules/calls.py",
        "if not id or id in self.pending:",
        "In becomes NotIn",
    ): "every history with calls then runs all rules, which change nothing that is in order",
    (
        "formats/rules/media.py",
        "if media.name and media.kind not in traits.named_media:",
        "the condition is always true",
    ): "every history with media then runs all rules, which change nothing that is in order",
    (
        "formats/openai_responses/read.py",
        'if kind == "assistant" and begins and items[index].get("content"):',
        "the condition is always false",
    ): "more turns are read again than have to be, with the same result",
    (
        "windows/history.py",
        "raise Unloaded(self.log.start - 1)",
        "1 becomes 2",
    ): "one message more is loaded than has to be",
    (
        "store/rows/recorded/signatures.py",
        "BATCH = 500",
        "500 becomes 501",
    ): "batches of any size find the same",
    (
        "store/care/copying.py",
        "brought += [entry for entry in written if entry is not None]",
        "nothing is filtered",
    ): "there is none only if another process has just removed the conversation",
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
    (
        "context/fitting/recent.py",
        "messages = given.messages if isinstance(given, Conversation | PricedHistory) else given",
        "the condition is always false",
    ): "the history of a conversation is then priced again, with the same result",
    (
        "formats/gemini/write.py",
        "self.called = 0",
        "0 becomes 1",
    ): "the positions of calls are only compared with each other",
    (
        "formats/rules/calls.py",
        "if not id or id in self.pending:",
        "the condition is always true",
    ): "every history with calls then runs all rules, which change nothing that is in order",
    (
        "wire/anthropic/survey.py",
        "and type(block := content[0]) is dict",
        "Is becomes IsNot",
    ): "the survey finds fewer requests in order, which the rules then find in order",
    (
        "wire/openai_responses/rules.py",
        "if id not in called or id in answered:",
        "In becomes NotIn",
    ): "the survey finds no request with results in order, which the rules then find in order",
    (
        "store/contexts/build.py",
        "if known.history.fits(format, model, recipe) and known.needs.holds(needs):",
        "And becomes Or",
    ): "a build prices a history of another model again, and loads what is missing",
    (
        "tokens/tokenizers.py",
        "if length <= SHORT:",
        "LtE becomes Lt",
    ): "the longest of the short texts is counted each time",
    (
        "recall/vectors/tokenizer.py",
        "if not found or found[0][0] > start + 1:",
        "Add becomes Sub",
    ): "an unknown character is less likely than any piece, so that none is taken for one",
    (
        "serve/recording/outcome.py",
        "return value if hidden == encoded else decoder(type(value)).decode(hidden)",
        "the condition is always false",
    ): "a value that holds no key is written and read again",
    (
        "store/engines/sqlite_connection.py",
        "self.database.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)",
        "1 becomes 2",
    ): "any number but 0 turns it on",
    (
        "messages/quotes.py",
        "if not lost:",
        "the condition is always false",
    ): "no quote is lost then, so that the same messages are gathered again",
    (
        "context/fitting/attempt.py",
        "if not drops_any(window, self._whole_view, most):",
        "Not is left out",
    ): "a history is not called outgrown, and the whole of it is tried in vain",
    (
        "store/rows/index.py",
        "if count > len(lines.sizes) or count + len(lines.sizes) > MAX_ROW_MESSAGES:",
        "Gt becomes GtE",
    ): "rows of an index are merged at another size, and hold the same",
    (
        "store/care/copying.py",
        "elif is_same_state(connection, entry, marks, known):",
        "the condition is always false",
    ): "what the target has already is written again",
    (
        "store/engines/sqlite.py",
        "CONNECTIONS = 64",
        "64 becomes 65",
    ): "one more connection may be kept open",
    (
        "store/contexts/loader.py",
        "if length >= needs.length and count >= needs.newest:",
        "And becomes Or",
    ): "less is read at first, and a build asks for the rest",
    (
        "store/care/entries.py",
        "digest = blake2b(msgspec.json.encode([about, marks]), digest_size=16)",
        "16 becomes 17",
    ): "digests of any size are equal where their texts are",
    (
        "recall/episodes/boundaries.py",
        "pairs = list(zip(terms, weights, strict=True))",
        "True becomes False",
    ): "each of the terms has its weight",
    (
        "store/recall/outlines.py",
        "self._size -= len(page.sessions) if page else 0",
        "0 becomes 1",
    ): "an outline that is not here is dropped: the next is forgotten one line earlier",
    (
        "tokens/images.py",
        'bits = int.from_bytes(content[21:25], "little")',
        "25 becomes 26",
    ): "only the lowest 28 bits are read",
    (
        "wire/openai_chat/rules.py",
        "if not is_plain_call(call, open_calls):",
        "the condition is always true",
    ): "the survey finds no request with calls in order, which the rules then find in order",
    (
        "store/rows/recorded/places.py",
        "rows = zip(seqs, digests, strict=True)",
        "True becomes False",
    ): "there is a digest for each message",
    (
        "store/contexts/loader.py",
        "chunk = min(max(likely, CHUNK // 4, 1), chunk * 2)",
        "min becomes max",
    ): "more messages are loaded at once than have to be",
    (
        "recall/vectors/encoder.py",
        "if not some and not read[-1]:",
        "And becomes Or",
    ): "a sound file of weights never yields nothing from something",
    (
        "recall/dates/periods.py",
        "if start is not None and moment < start:",
        "Lt becomes LtE",
    ): "a moment at the start is in the period, which is handled before",
    (
        "context/prompt.py",
        "if (step is not known and not is_same_json(step, known)) or place != unit.place:",
        "NotEq becomes Eq",
    ): "no step is taken over unseen; their hashes are the same",
    (
        "formats/replies/halves.py",
        "return not event.text.isascii() and HALF(event.text) is not None",
        "And becomes Or",
    ): "a text without halves is joined as it is",
    (
        "store/turns.py",
        "if key is None and state.engine.names_turns:",
        "And becomes Or",
    ): "a turn has a name of ours, which is never shown",
    (
        "store/rows/recorded/bodies.py",
        "MAX_DEPTH = 64",
        "64 becomes 65",
    ): "a body is restored from any number of differences",
    (
        "formats/gryag/format.py",
        "current = own and any(NAME in message.extra for message in conversation.messages[-1:])",
        "any becomes all",
    ): "there is at most one message, and without any there is no turn to set apart",
    (
        "windows/clearing.py",
        "return all(part is other for part, other in zip(parts, others, strict=True))",
        "True becomes False",
    ): "clearing replaces parts and drops none",
    (
        "formats/gemini/write.py",
        "self.called += 1",
        "1 becomes 2",
    ): "the positions of calls are only compared with each other",
    (
        "store/recording.py",
        "if end is None:",
        "the condition is always false",
    ): "a conversation without an end is one that another process has just removed",
    (
        "formats/replies/reader.py",
        "if self.reader.faults:",
        "the condition is always true",
    ): "without faults nothing is raised; the check saves a call for each event",
}
"""Why, for the file, the line and the fault of each; no other line of the file is the same."""
