"""Importers: one file per source."""
