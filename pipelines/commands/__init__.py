"""The commands of `poker-solver`."""
