"""Fixed examples that several tests share."""
