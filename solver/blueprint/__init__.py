"""Blueprints: training on sampled boards, evaluation, questions.

`trainer` is the algorithm; read it first. `sweep` plays one board, in steps of `node_kernels`, `board_links`,
`terminals` and `river_choices`.
"""
