"""Checking, repairing and copying a store."""
