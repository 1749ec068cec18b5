"""Histories that clients send in part, or in items that their upstream cannot read."""
