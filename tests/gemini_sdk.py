"""Google's own types, for the tests that hold our payloads against them."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its docstrings hold escapes that Python warns of
    from google.genai import types

__all__ = ["types"]
