"""What is read where a request has an odd value, or lacks one: in every place."""

from strategies.bodies.odd import compare_odd_requests


def test_what_becomes_of_an_odd_value_anywhere() -> None:
    compare_odd_requests("openai-responses")
