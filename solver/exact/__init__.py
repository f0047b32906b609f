"""Exact two-player solving: every hand and every card, any deck."""
