"""Train a small network on a data set of `python -m pipelines.value_data`, with no code of this project.

python scripts/train_value_network.py DATASET_FOLDER [hidden units, default 64]
"""

import sys

import numpy as np
import polars as pl
from sklearn.neural_network import MLPRegressor

rows = pl.read_ipc(f"{sys.argv[1]}/part-*.arrow")
column = {
    name: rows[name].to_numpy() for name in ("oop_range", "ip_range", "oop_cfv", "ip_cfv", "board_cards")
}
board = np.zeros((len(rows), 52))
np.put_along_axis(board, column["board_cards"].astype(int), 1.0, axis=1)
depth = np.log(rows["stack"].to_numpy() / rows["pot"].to_numpy())[:, None]
# Ranges as multiples of a uniform one, so that all inputs are of the order of one.
inputs = np.hstack([1326 * column["oop_range"], 1326 * column["ip_range"], board, depth])
targets = np.hstack([column["oop_cfv"], column["ip_cfv"]])
held_out = np.arange(len(rows)) % 5 == 0
hidden = int(sys.argv[2]) if len(sys.argv) > 2 else 64
network = MLPRegressor(hidden_layer_sizes=(hidden,), max_iter=200, random_state=1)
network.fit(inputs[~held_out], targets[~held_out])


def huber(errors: np.ndarray) -> float:
    """Mean Huber loss with delta 1, as value networks are judged."""
    size = np.abs(errors)
    return float(np.where(size <= 1.0, 0.5 * size**2, size - 0.5).mean())


print(
    f"Huber loss on {held_out.sum()} held-out rows: {huber(network.predict(inputs[held_out]) - targets[held_out]):.6f}"
)
print(f"Huber loss of always saying 0: {huber(targets[held_out]):.6f}")
