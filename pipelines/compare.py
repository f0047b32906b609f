"""`python -m pipelines.compare`: the recorded runs, by exploitability.

Runs are ranked within one game and one evaluation tier only: figures from different games or tiers
measure different things.

    python -m pipelines.compare [store.root=DIR] [tracking.uri=URI] [out=FILE.json] [plot=FILE.png]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pipelines.commands.options import writable
from pipelines.config.composition import compose_config
from pipelines.run.command import run_command
from pipelines.run.errors import UserError
from pipelines.run.progress import plain_console
from pipelines.run.recorded_runs import as_data, compared_runs, plot, print_table

#: Kinds of pictures that can be drawn.
PICTURES = (".png", ".svg", ".pdf", ".jpg")


def main() -> None:
    """Print the tables; write `out` and the plot."""
    arguments = sys.argv[1:]
    if "-h" in arguments or "--help" in arguments:
        print((__doc__ or "").strip())
        return
    own = dict(argument.split("=", 1) for argument in arguments if argument.startswith(("out=", "plot=")))
    config = compose_config([a for a in arguments if not a.startswith(("out=", "plot="))])
    root = Path(config.store.root)
    for key, file in own.items():
        if not Path(file).resolve().parent.is_dir():
            raise UserError(f"{key}: the folder of {file} does not exist")
        writable(Path(file))
    picture = Path(own.get("plot") or root / "compare.png")
    if picture.suffix.lower() not in PICTURES:
        raise UserError(f"plot: {picture} is not accepted: a file that ends in {' '.join(PICTURES)}")
    groups = compared_runs(config)
    if not groups:
        print(f"no runs recorded in {config.tracking.uri}")
    print_table(groups, plain_console())
    if "out" in own:
        Path(own["out"]).write_text(json.dumps(as_data(groups), indent=2) + "\n", encoding="utf-8")
        print(f"written: {own['out']}")
    if ("plot" in own or root.is_dir()) and plot(groups, picture):
        print(f"plot: {picture}")


if __name__ == "__main__":
    run_command(main)
