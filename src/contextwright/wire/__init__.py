"""Payload types of each provider, and the rules of what it refuses.

Nothing here imports our messages; `contextwright.formats` translates between the two.
"""
