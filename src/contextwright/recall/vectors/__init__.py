"""Embedders and the vectors they make."""
