"""Public states with random ranges, and their values: what value networks learn from."""
