"""States per second that `python -m pipelines.value_data` solves, by street.

    python scripts/bench_value_data.py [--streets river,turn] [--seconds 20] [--cores 2] [--accuracy 0.5] [--profile]
        [--rivers 20]

Draws states as the command does by default and solves them, one process per core, for some seconds. Prints states per
second, the mean CPU milliseconds of a state, the states that the cores would solve if they did nothing else for a
second, and the ratios to the targets: 100 rivers and 5 turns a second on 2 cores. `--profile` also says, for one core,
which share of the time goes into drawing, setting up and solving. `--rivers` says for so many turns what reading every
river from the solve adds (`rivers=all`), and how many rivers are within the accuracy.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from pipelines.value_data import read_request
from solver.betting.lines import PUBLIC_CARDS, STREETS
from solver.value_states.labels import Labelling, label, label_with_every_river, state_solver
from solver.value_states.public_state import random_state

#: States per second on two cores that are asked for.
TARGETS = {"river": 100.0, "turn": 5.0}


def solve_for(street: str, accuracy: float, seconds: float, seed: int) -> tuple[int, float, float]:
    """States solved, seconds and CPU seconds of one process."""
    data = read_request([f"street={street}", "samples=1"]).data
    how = Labelling(data.bet, data.raise_, accuracy, data.max_iterations)
    cards, stacks = PUBLIC_CARDS[STREETS.index(street)], (data.stack_low, data.stack_high)
    rng = np.random.default_rng(seed)
    label(random_state(cards, stacks, rng), how)  # compile or load the kernels
    began, busy, count = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - began < seconds:
        label(random_state(cards, stacks, rng), how)
        count += 1
    return count, time.perf_counter() - began, time.process_time() - busy


def profile(street: str, accuracy: float, states: int = 20) -> None:
    """Print where the time of a state goes."""
    data = read_request([f"street={street}", "samples=1"]).data
    how = Labelling(data.bet, data.raise_, accuracy, data.max_iterations)
    cards, stacks = PUBLIC_CARDS[STREETS.index(street)], (data.stack_low, data.stack_high)
    rng = np.random.default_rng(1)
    random_state(cards, stacks, rng)  # compile or load the kernels
    spent = np.zeros(3)
    for _ in range(states):
        times = [time.process_time()]
        state = random_state(cards, stacks, rng)
        times.append(time.process_time())
        solver = state_solver(state, how)
        times.append(time.process_time())
        solver.solve(max_iterations=data.max_iterations, target_exploitability_pct=accuracy)
        times.append(time.process_time())
        spent += np.diff(times)
    shares = ", ".join(
        f"{name} {share:.0%}" for name, share in zip(("draw", "set-up", "solve"), spent / spent.sum())
    )
    print(f"       {shares}")


def read_rivers(accuracy: float, turns: int) -> None:
    """Print what every river of some turns costs beside their solves, in CPU time, and how well they are played."""
    data = read_request(["street=turn", "samples=1"]).data
    how = Labelling(data.bet, data.raise_, accuracy, data.max_iterations)
    rng = np.random.default_rng(1)
    label_with_every_river(random_state(4, (data.stack_low, data.stack_high), rng), how, accuracy)
    solving = reading = 0.0
    kept = read = 0
    for _ in range(turns):
        state = random_state(4, (data.stack_low, data.stack_high), rng)
        times = [time.process_time()]
        label(state, how)
        times.append(time.process_time())
        _, rivers, count = label_with_every_river(state, how, accuracy)
        times.append(time.process_time())
        solving += times[1] - times[0]
        reading += times[2] - times[1] - (times[1] - times[0])
        kept, read = kept + len(rivers), read + count
    print(
        f"       every river of {turns} turns: {1000 * reading / read:.2f} CPU ms each ({read / turns:.0f} of a turn, "
        f"{reading / solving:.0%} of its solve); {kept / read:.0%} are within {accuracy:g} % of their pot"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streets", default="river,turn")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--accuracy", type=float, default=0.5)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--rivers", type=int, default=0)
    options = parser.parse_args()
    for street in options.streets.split(","):
        with ProcessPoolExecutor(options.cores) as pool:
            jobs = [
                pool.submit(solve_for, street, options.accuracy, options.seconds, seed)
                for seed in range(options.cores)
            ]
            results = [job.result() for job in jobs]
        rate = sum(count / seconds for count, seconds, _ in results)
        cpu = sum(busy for _, _, busy in results) / sum(count for count, _, _ in results)
        by_cpu = options.cores / cpu
        print(
            f"{street:5}  {rate:7.1f} states/s on {options.cores} cores{_against(rate, street)}, "
            f"{1000 * cpu:7.1f} CPU ms each: by CPU time {by_cpu:.1f}/s{_against(by_cpu, street)}"
        )
        if options.profile:
            profile(street, options.accuracy)
    if options.rivers:
        read_rivers(options.accuracy, options.rivers)


def _against(rate: float, street: str) -> str:
    """A rate as a multiple of the target of a street."""
    return f" ({rate / TARGETS[street]:.2f} x the target)" if street in TARGETS else ""


if __name__ == "__main__":
    main()
