"""Cost of folded players in a postflop solve, as multiples of the plain solve.

    python scripts/bench_folded.py [--players 1,2,3,4] [--target 0.1] [--repeats 3] [--threads 1]

Prints, for the turn spot T1 of `scripts/bench_postflop.py` without and with folded players: CPU seconds of set-up and
of the solve, iterations to the target (the fastest of the repeats), and the ratio of the solves.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from solver.postflop.solver import PostflopSolver

#: The turn spot T1 of `scripts/bench_postflop.py`.
SPOT: dict[str, Any] = {
    "board": "QsJh2h8d",
    "oop_range": "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s",
    "ip_range": "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+",
    "pot": 200,
    "stack": 900,
    "bet_sizes": {"turn": {"bet": "50%,100%", "raise": "2.5x"}},
}
#: What early positions of a six-handed table fold, from the tightest on.
FOLDED = (
    "55-22,A9s-A2s,AJo-A2o,K9s-K2s,KQo-K2o,Q9s-Q2s,QJo-Q2o,J9s-J2s,J2o+,T8s-T2s,T2o+,92+,82+,72+,62+,52+,42+,32",
    "44-22,A8s-A2s,ATo-A2o,K8s-K2s,KJo-K2o,Q8s-Q2s,QTo-Q2o,J8s-J2s,J2o+,T7s-T2s,T2o+,92+,82+,72+,62+,52+,42+,32",
    "33-22,A5s-A2s,A9o-A2o,K7s-K2s,KTo-K2o,Q7s-Q2s,Q9o-Q2o,J7s-J2s,J9o-J2o,T6s-T2s,T8o-T2o,95s-92s,92o+,82+,72+",
    "22,A2s,A6o-A2o,K4s-K2s,K8o-K2o,Q5s-Q2s,Q8o-Q2o,J6s-J2s,J8o-J2o,T5s-T2s,T7o-T2o,94s-92s,96o-92o,82+,72+,62+",
)


def measure(players: int, target: float, threads: int, repeats: int) -> dict[str, Any]:
    """Set-up and solve of the turn spot with some folded players."""
    best: dict[str, Any] = {}
    for _ in range(repeats):
        began = time.process_time()
        solver = PostflopSolver(**SPOT, folded_ranges=FOLDED[:players], threads=threads)
        setup = time.process_time() - began
        before = time.process_time()
        result = solver.solve(target_exploitability_pct=target)
        spent = time.process_time() - before
        if not best or spent < best["solve"]:
            best = {"setup": setup, "solve": spent, "iterations": result.iterations, "ev": solver.node().ev}
    return best


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--players", default="1,2,3,4")
    parser.add_argument("--target", type=float, default=0.1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    for players in (0, int(options.players.split(",")[0])):
        measure(players, 50.0, options.threads, 1)  # compile first
    plain = measure(0, options.target, options.threads, options.repeats)
    print(
        f"plain     set-up {plain['setup']:6.2f} s   solve {plain['solve']:6.2f} s   {plain['iterations']} iterations"
    )
    for players in map(int, options.players.split(",")):
        found = measure(players, options.target, options.threads, options.repeats)
        print(
            f"{players} folded  set-up {found['setup']:6.2f} s   solve {found['solve']:6.2f} s   "
            f"{found['iterations']} iterations   {found['solve'] / plain['solve']:.2f} x plain   "
            f"EV {found['ev'][0]:.2f} (plain {plain['ev'][0]:.2f})"
        )


if __name__ == "__main__":
    main()
