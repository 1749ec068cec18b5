"""Payloads as the providers see them: their types, their rules, their countable pieces.

Nothing here knows our messages; `contextwright.formats` translates between the two.
"""
