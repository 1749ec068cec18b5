"""From a history to what fits a budget."""
