"""What recorded conversations would have cost, and which window is worth it."""
