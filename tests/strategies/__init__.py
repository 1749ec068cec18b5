"""Hypothesis strategies, by what they generate."""
