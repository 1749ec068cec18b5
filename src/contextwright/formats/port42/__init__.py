"""Port 42's session files, and the agents they name."""
