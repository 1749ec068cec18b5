"""Recall: which old messages and memories a question needs. Pure; a store feeds it."""
