"""Fuzzing of every reader: bytes in, a result or one of our own errors out."""
