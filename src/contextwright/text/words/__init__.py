"""Words inside other words, and names that sound alike."""
