"""A package, so that its tests can share a browser, which no other test may meet."""
