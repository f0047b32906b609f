"""Speed and memory of the exact postflop solver on the reference spots.

    python scripts/bench_postflop.py [--spots R1,T1,F1] [--threads 1,2] [--compress] [--startup] [--out FILE.json]
    python scripts/bench_postflop.py --spots R1 --repeats 1      a quick trial

Prints, per spot and number of threads: milliseconds per iteration (the fastest and the median of repeats),
nanoseconds per table entry (action and hand) and iteration, seconds and iterations to 0.5 % and 0.1 % of pot,
memory of the tables, and root EVs; beside them the figures of b-inary/postflop-solver (commit 9d1509f, built for
the native CPU), which were measured once on a machine of two cores, and our time as a multiple of its time. `--startup`
also times a whole river solve in a new process, with a warm and with an empty cache of compiled code.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from solver.postflop.solver import PostflopSolver

OOP = "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s"
IP = "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+"
COMMON: dict[str, Any] = {"pot": 200, "stack": 900}
SPOTS: dict[str, dict[str, Any]] = {
    "R1": {
        "board": "QsJh2h8d3c",
        "oop_range": "all",
        "ip_range": "all",
        "bet_sizes": {"river": {"bet": "50%,100%,a", "raise": "60%,2.5x"}},
    },
    "T1": {
        "board": "QsJh2h8d",
        "oop_range": OOP,
        "ip_range": IP,
        "bet_sizes": {"turn": {"bet": "50%,100%", "raise": "2.5x"}},
    },
    "F1": {
        "board": "QsJh2h",
        "oop_range": OOP,
        "ip_range": IP,
        "bet_sizes": {"flop": {"bet": "50%", "raise": "2.5x"}},
    },
}
#: Milliseconds per iteration by threads, iterations to 0.5 % and 0.1 %, MiB of 32-bit and 16-bit tables, root EVs.
REFERENCE: dict[str, dict[str, Any]] = {
    "R1": {"ms": {1: 0.655}, "iterations": (80, 220), "mib": 0.79, "ev": (93.672, 106.328)},
    "T1": {"ms": {1: 26.7}, "iterations": (90, 200), "mib": 20.6, "mib16": 10.8, "ev": (103.976, 96.024)},
    "F1": {
        "ms": {1: 1345.0, 2: 600.0},
        "iterations": (90, 180),
        "mib": 915.0,
        "mib16": 476.0,
        "ev": (108.570, 91.430),
    },
}
#: Iterations that are timed together, and how often.
REPEATS = {"R1": (20, 100), "T1": (1, 60), "F1": (1, 8)}
STARTUP = (
    "from solver.postflop.spot import solve_spot;"
    "print(solve_spot({'board': 'QsJh2h8d3c', 'oop_range': 'all', 'ip_range': 'all', 'pot': 200, 'stack': 900,"
    "'bet_sizes': {'river': {'bet': '50%,100%,a', 'raise': '60%,2.5x'}}})['seconds'])"
)


def measure(name: str, threads: int, compress: bool, repeats: int | None = None) -> dict[str, Any]:
    """Time one spot on a number of threads, with as many repeats as `REPEATS` says unless they are given."""
    reference = REFERENCE[name]
    solver = PostflopSolver(**COMMON, **SPOTS[name], threads=threads, compress=compress)
    solver.engine.run(1)
    targets = {}
    solver = PostflopSolver(**COMMON, **SPOTS[name], threads=threads, compress=compress)
    for percent in (0.5, 0.1):
        result = solver.solve(target_exploitability_pct=percent)
        targets[f"{percent} %"] = {
            "seconds": result.seconds,
            "iterations": result.iterations,
            "exploitability_pct": result.exploitability_pct,
        }
    report = solver.node()
    block, usual = REPEATS[name]
    times = []
    for _ in range(repeats or usual):
        start = time.perf_counter()
        solver.engine.run(block)
        times.append((time.perf_counter() - start) / block * 1e3)
    entries = sum(solver.engine.deals.table_sizes)
    ms = reference["ms"].get(threads)
    reference_mib = reference.get("mib16" if compress else "mib")
    return {
        "spot": name,
        "threads": threads,
        "compress": compress,
        "ms_per_iteration": min(times),
        "ms_per_iteration_median": statistics.median(times),
        "ns_per_entry": min(times) * 1e6 / entries,
        "reference_ms_per_iteration": ms,
        "times_reference": None if ms is None else min(times) / ms,
        "to_target": targets,
        "reference_iterations": dict(zip(("0.5 %", "0.1 %"), reference["iterations"])),
        "reference_seconds": None
        if ms is None
        else dict(zip(("0.5 %", "0.1 %"), (n * ms / 1e3 for n in reference["iterations"]))),
        "table_mib": solver.table_bytes / 2**20,
        "scratch_mib": (solver.memory_bytes - solver.table_bytes) / 2**20,
        "reference_mib": reference_mib,
        "ev": report.ev,
        "reference_ev": reference["ev"],
        "frequencies": dict(zip(report.actions, report.frequencies.tolist())),
    }


def startup(cache: str | None) -> float:
    """Seconds of a whole river solve in a new process."""
    environment = dict(os.environ)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", STARTUP], check=True, env=environment, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def show(row: dict[str, Any]) -> None:
    """Print one measurement."""
    ratio = ""
    if row["times_reference"] is not None:
        ratio = f" = {row['times_reference']:.2f}x of {row['reference_ms_per_iteration']:g}"
    print(
        f"{row['spot']}, {row['threads']} thread(s){', 16-bit' if row['compress'] else ''}: "
        f"{row['ms_per_iteration']:.4g} ms per iteration{ratio} "
        f"(median {row['ms_per_iteration_median']:.4g}; {row['ns_per_entry']:.2f} ns per entry)"
    )
    for target, run in row["to_target"].items():
        beside = f"reference {row['reference_iterations'][target]} iterations"
        if row["reference_seconds"] is not None:
            beside += f", {row['reference_seconds'][target]:.3g} s"
        print(f"    to {target} of pot: {run['seconds']:.3g} s, {run['iterations']} iterations ({beside})")
    memory = f"tables {row['table_mib']:.2f} MiB (reference {row['reference_mib']})"
    values = "EV {:.3f} / {:.3f}".format(*row["ev"]) + " (reference {} / {})".format(*row["reference_ev"])
    print(f"    {memory}, scratch {row['scratch_mib']:.2f} MiB; {values}")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spots", default="R1,T1,F1")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--compress", action="store_true", help="16-bit tables")
    parser.add_argument("--repeats", type=int, help="timed blocks of iterations per spot")
    parser.add_argument(
        "--startup",
        nargs="?",
        const="cold",
        choices=("warm", "cold"),
        help="time new processes, too: with a warm cache, or (the default) with an empty one as well",
    )
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    options = parser.parse_args()
    names = options.spots.split(",")
    unknown = [name for name in names if name not in SPOTS]
    if unknown:
        parser.error(f"--spots: {unknown[0]!r} is unknown; accepted: {', '.join(SPOTS)}")
    figures: dict[str, Any] = {"spots": []}
    for name in names:
        for threads in [1] if name == "R1" else [int(text) for text in options.threads.split(",")]:
            row = measure(name, threads, options.compress, options.repeats)
            figures["spots"].append(row)
            show(row)
    if options.startup:
        startup(None)
        figures["startup_warm_seconds"] = startup(None)
        print(f"river solve in a new process: {figures['startup_warm_seconds']:.2f} s with a warm cache")
    if options.startup == "cold":
        with tempfile.TemporaryDirectory() as empty:
            figures["startup_cold_seconds"] = startup(empty)
        print(f"river solve in a new process: {figures['startup_cold_seconds']:.1f} s with an empty cache")
    if options.out is not None:
        options.out.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
