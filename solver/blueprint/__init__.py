"""Blueprints: training on sampled boards, evaluation, questions."""
