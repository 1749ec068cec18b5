"""Fitting a history into a budget."""
