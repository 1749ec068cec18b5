"""Contexts built from a store."""
