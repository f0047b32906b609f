"""Hydra configuration of the pipeline."""
