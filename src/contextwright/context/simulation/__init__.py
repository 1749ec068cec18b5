"""Replays of recorded conversations: their cost with each window, and the best one."""
