"""The exported blueprint as users read it."""
