"""The training loop around the solver: hosts, checkpoints, measurements."""
