"""Aya, a Slack bot."""
