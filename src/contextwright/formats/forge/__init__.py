"""Forge, a text protocol for tools."""
