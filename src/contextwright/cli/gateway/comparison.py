"""Two recorded requests compared, for `cw diff`."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from contextwright.cli.options import StoreOptions
from contextwright.cli.output import numbered, say, say_json, table
from contextwright.cli.stores import existing
from contextwright.context.explain import money
from contextwright.context.prompt import Prompt
from contextwright.context.receipt import Comparison
from contextwright.errors import NotFound
from contextwright.store.recording import recorded_prompt
from contextwright.store.store import Store

__all__ = ["compared_rows", "diff_recorded"]


def diff_recorded(numbers: Sequence[int], where: StoreOptions, *, as_json: bool) -> int:
    """Print what two recorded requests share, as their provider's cache sees them.

    One number is compared with the request before it in its conversation.
    """
    with existing(where, embedder=None) as store:
        first = numbers[0] if len(numbers) == 2 else number_before(store, numbers[0])
        previous = prompt_in(store, first)
        prompt = prompt_in(store, numbers[-1], previous)
    comparison = prompt.compared_with(previous)
    if as_json:
        say_json({**msgspec.to_builtins(comparison), "share": round(comparison.share, 4)})
        return 0
    steps = [numbered(len(each.units), "step") for each in (previous, prompt)]
    before = ("before", f"{previous.tokens:,} tokens in {steps[0]}")
    now = ("now", f"{prompt.tokens:,} tokens in {steps[1]}")
    say(table([before, now, *compared_rows(comparison)]))
    return 0


def number_before(store: Store, number: int) -> int:
    """Return the number of the request before a recorded one, in its conversation.

    Raises:
        NotFound: it is the first, or unknown.
    """
    previous = store.request(number).previous
    if previous is None:
        hint = f"name the request to compare it with: cw diff N {number}"
        raise NotFound(f"no request is known before request {number}", hint=hint)
    return previous


def prompt_in(store: Store, number: int, previous: Prompt | None = None) -> Prompt:
    """Return the prompt of a recorded request."""
    prompt = recorded_prompt(store.request(number), store.request_bodies(number), previous)
    if prompt is None:
        raise NotFound(f"the body of request {number} was not kept, or cannot be read")
    return prompt


def compared_rows(comparison: Comparison) -> list[tuple[str, str]]:
    """Return a comparison as rows of a table."""
    shared = f"{comparison.shared:,} tokens, {comparison.share:.1%} of now"
    rows = [("shared", shared), ("cause", comparison.cause)]
    if comparison.first_difference is None:
        return rows
    rows.insert(1, ("differs at", f"{comparison.first_difference}, byte {comparison.byte or 0:,}"))
    if comparison.cost is not None:
        fresh = f"{numbered(comparison.fresh, 'token')} not shared"
        rows.append(("price", f"{money(comparison.cost)} for {fresh}"))
    return rows
