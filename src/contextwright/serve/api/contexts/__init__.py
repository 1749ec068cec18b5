"""Requests built from a conversation: one, all of them, two compared, and their cost."""
