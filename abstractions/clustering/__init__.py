"""Weighted k-means."""
