"""Replies of models and their streams: read, written, and passed from one API to another."""
