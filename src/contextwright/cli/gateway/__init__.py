"""The commands that stand between clients and providers."""
