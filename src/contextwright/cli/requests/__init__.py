"""The commands that make, compare and repair requests."""
