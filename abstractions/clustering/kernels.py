"""Kernels of `abstractions.clustering.kmeans`: distances, the search along an axis, means and medians, seeding.

Points are held dimension by dimension and in the order of their projections on an axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

# Points that are compared with a centroid together, so that the CPU handles several per instruction.
_BLOCK = 256
# Centroids taken per widening of the search window.
_STEP = 16
# Distances are float32 and bounds on them float64. This factor makes a bound safe against rounding.
_SLACK = 1.00001


@njit(cache=True, nogil=True)
def _first_of_equal(points: Any, first: Any, inverse: Any) -> int:
    """Number distinct rows in order of appearance through a hash table; returns how many there are."""
    n, d = points.shape
    size = 1
    while size < 2 * n:
        size *= 2
    slots = np.full(size, -1, np.int32)
    bits = points.view(np.uint32)
    # Multiply-shift hashing: one odd multiplier per dimension, from a linear congruential sequence.
    multipliers = np.empty(d, np.uint64)
    state = np.uint64(88172645463325252)
    for t in range(d):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        multipliers[t] = state | np.uint64(1)
    count = 0
    for i in range(n):
        h = np.uint64(0)
        for t in range(d):
            h += np.uint64(bits[i, t]) * multipliers[t]
        slot = np.int64((h >> np.uint64(32)) & np.uint64(size - 1))
        while True:
            known = slots[slot]
            if known < 0:
                slots[slot] = count
                first[count] = i
                inverse[i] = count
                count += 1
                break
            same = True
            for t in range(d):
                if points[first[known], t] != points[i, t]:
                    same = False
                    break
            if same:
                inverse[i] = known
                break
            slot = (slot + 1) & (size - 1)
    return count


@njit(cache=True, nogil=True)
def _project(points: Any, axis: Any) -> Any:
    keys = np.empty(points.shape[0])
    for i in range(points.shape[0]):
        key = 0.0
        for t in range(points.shape[1]):
            key += points[i, t] * axis[t]
        keys[i] = key
    return keys


@njit(cache=True, nogil=True)
def _dimension_major(points: Any, order: Any) -> Any:
    """Points in an order as [d, n], d padded by zeros to a multiple of four, the kernels' unit of work."""
    n, d = points.shape
    columns = np.zeros(((d + 3) // 4 * 4, n), np.float32)
    for i in range(n):
        for t in range(d):
            columns[t, i] = points[order[i], t]
    return columns


@njit(cache=True, nogil=True)
def _block_costs(x: Any, center: Any, l1: bool, cost: Any) -> None:
    """Cost, squared or absolute distance, of each point of a block [d, 256] to one centre."""
    for t in range(0, x.shape[0], 4):
        c0, c1, c2, c3 = center[t], center[t + 1], center[t + 2], center[t + 3]
        x0, x1, x2, x3 = x[t], x[t + 1], x[t + 2], x[t + 3]
        if t == 0:
            for p in range(_BLOCK):
                cost[p] = 0
        if l1:
            for p in range(_BLOCK):
                near = abs(x0[p] - c0) + abs(x1[p] - c1)
                cost[p] += near + (abs(x2[p] - c2) + abs(x3[p] - c3))
        else:
            for p in range(_BLOCK):
                e0, e1, e2, e3 = x0[p] - c0, x1[p] - c1, x2[p] - c2, x3[p] - c3
                cost[p] += (e0 * e0 + e1 * e1) + (e2 * e2 + e3 * e3)


@njit(cache=True)
def _place_of(keys: Any, key: float) -> int:
    """Number of ascending keys below a key."""
    low, high = 0, keys.shape[0]
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _search_block(
    x: Any, low_key: float, high_key: float, rows: Any, keys: Any, ids: Any, l1: bool, near: Any, work: Any
) -> tuple[float, float]:
    """Nearest centroid of each point of a block whose keys lie within [low_key, high_key].

    The rows of `near` are the best cost, the second best among those looked at, and the best id, all int32:
    costs are compared as bits, which order like non-negative floats. `work[0]` brings an upper bound of each
    best cost. Returns the keys of the nearest centroids not looked at on either side.
    """
    best, second, label = near[0], near[1], near[2]
    bound, cost_bits = work[0], work[1]
    cost = cost_bits.view(np.float32)
    best[:] = 0x7F800000
    second[:] = 0x7F800000
    label[:] = 0x7FFFFFFF
    k = keys.shape[0]
    left = right = _place_of(keys, (low_key + high_key) / 2)
    while True:
        widest: Any = np.int32(0)
        for p in range(_BLOCK):
            bound[p] = min(bound[p], best[p])
            widest = max(widest, bound[p])
        cost_bits[0] = widest
        radius: Any = np.float64(cost[0])
        radius = (radius if l1 else np.sqrt(radius)) * _SLACK
        go_right = right < k and keys[right] - high_key <= radius
        go_left = left > 0 and low_key - keys[left - 1] <= radius
        if not (go_right or go_left):
            break
        start = max(left - _STEP, 0) if go_left else left
        stop = min(right + _STEP, k) if go_right else right
        for j in range(start, stop):
            if left <= j < right:
                continue
            _block_costs(x, rows[j], l1, cost)
            number = ids[j]
            for p in range(_BLOCK):
                a, b, old = cost_bits[p], best[p], label[p]
                second[p] = min(second[p], max(a, b))
                best[p] = min(a, b)
                tied = min(old, number) if a == b else old
                label[p] = number if a < b else tied
        left, right = start, stop
    return (keys[left - 1] if left > 0 else -np.inf), (keys[right] if right < k else np.inf)


@njit(cache=True, nogil=True)
def _assign(
    columns: Any,
    keys: Any,
    start: int,
    stop: int,
    rows: Any,
    center_keys: Any,
    ids: Any,
    place: Any,
    l1: bool,
    shift: float,
    labels: Any,
    distances: Any,
    lower: Any,
) -> int:
    """Nearest centroid of the points start..stop-1; returns how many changed theirs.

    `lower` bounds the distance of each point to every centroid but its own from below, before the centroids
    moved by at most `shift`; it is -inf where nothing is known, as is a label below 0.
    """
    d = columns.shape[0]
    x = np.zeros((d, _BLOCK), np.float32)
    near = np.empty((3, _BLOCK), np.int32)
    work = np.empty((2, _BLOCK), np.int32)
    members = np.empty(_BLOCK, np.int64)
    bound = work[0].view(np.float32)
    best, second = near[0].view(np.float32), near[1].view(np.float32)
    changed = 0
    i = start
    while i < stop:
        count = 0
        while i < stop and count < _BLOCK:
            old = labels[i]
            cost: Any = np.float32(np.inf)
            if old >= 0:
                row = rows[place[old]]
                cost = np.float32(0)
                for t in range(d):
                    e = columns[t, i] - row[t]
                    cost += abs(e) if l1 else e * e
                distance = cost if l1 else np.sqrt(cost)
                lower[i] -= shift
                if distance * _SLACK < lower[i]:
                    distances[i] = distance
                    i += 1
                    continue
            for t in range(d):
                x[t, count] = columns[t, i]
            # The sum above adds in another order than `_block_costs`, so the bound needs slack.
            bound[count] = cost * np.float32(_SLACK)
            members[count] = i
            count += 1
            i += 1
        if count == 0:
            break
        for p in range(count, _BLOCK):
            for t in range(d):
                x[t, p] = x[t, count - 1]
            bound[p] = bound[count - 1]
        low_key, high_key = keys[members[0]], keys[members[count - 1]]
        left_key, right_key = _search_block(x, low_key, high_key, rows, center_keys, ids, l1, near, work)
        for p in range(count):
            m = members[p]
            changed += labels[m] != near[2, p]
            labels[m] = near[2, p]
            runner_up: Any = np.float64(second[p] if l1 else np.sqrt(second[p]))
            distances[m] = best[p] if l1 else np.sqrt(best[p])
            lower[m] = min(runner_up, keys[m] - left_key, right_key - keys[m])
    return changed


@njit(cache=True, nogil=True)
def _group(labels: Any, k: int, offsets: Any, order: Any) -> None:
    """Counting sort of the points by label; members keep their order."""
    offsets[:] = 0
    for i in range(labels.shape[0]):
        offsets[labels[i] + 1] += 1
    for j in range(k):
        offsets[j + 1] += offsets[j]
    cursor = offsets[:k].copy()
    for i in range(labels.shape[0]):
        order[cursor[labels[i]]] = i
        cursor[labels[i]] += 1


@njit(cache=True, nogil=True)
def _means(
    columns: Any, weights: Any, offsets: Any, order: Any, dirty: Any, start: int, stop: int, centroids: Any
) -> None:
    """Set the centroids of the clusters whose members changed to the weighted means."""
    for j in range(start, stop):
        if not dirty[j]:
            continue
        mass = 0.0
        for m in range(offsets[j], offsets[j + 1]):
            mass += weights[order[m]]
        for t in range(centroids.shape[1]):
            column = columns[t]
            total = 0.0
            for m in range(offsets[j], offsets[j + 1]):
                total += weights[order[m]] * column[order[m]]
            centroids[j, t] = total / mass


@njit(cache=True, nogil=True)
def _weighted_median(values: Any, weights: Any, n: int) -> float:
    """Least value v of ``values[:n]`` with half the weight at or below it; reorders its arguments."""
    target = 0.0
    for i in range(n):
        target += weights[i]
    target *= 0.5
    low, high = 0, n
    while True:
        a, b, c = values[low], values[(low + high) // 2], values[high - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        below = equal = 0.0
        # Three parts: [low, i) under the pivot, [i, j) equal to it, [j, high) above it.
        i = j = low
        top = high
        while j < top:
            v, w = values[j], weights[j]
            if v < pivot:
                below += w
                values[j], weights[j] = values[i], weights[i]
                values[i], weights[i] = v, w
                i += 1
                j += 1
            elif v > pivot:
                top -= 1
                values[j], weights[j] = values[top], weights[top]
                values[top], weights[top] = v, w
            else:
                equal += w
                j += 1
        if below >= target and i > low:
            high = i
        elif below + equal >= target or j >= high:
            return pivot
        else:
            target -= below + equal
            low = j


@njit(cache=True, nogil=True)
def _medians(
    columns: Any, weights: Any, offsets: Any, order: Any, dirty: Any, start: int, stop: int, centroids: Any
) -> None:
    """Set the centroids of the clusters whose members changed to the weighted component-wise medians."""
    widest = 0
    for j in range(start, stop):
        widest = max(widest, offsets[j + 1] - offsets[j])
    values = np.empty(widest, np.float32)
    mass = np.empty(widest, np.float64)
    for j in range(start, stop):
        if not dirty[j]:
            continue
        members = order[offsets[j] : offsets[j + 1]]
        half = 0.0
        for m in members:
            half += weights[m]
        half *= 0.5
        for t in range(centroids.shape[1]):
            column, old = columns[t], centroids[j, t]
            below = upto = 0.0
            for n, m in enumerate(members):
                value = column[m]
                values[n] = value
                mass[n] = weights[m]
                below += weights[m] if value < old else 0.0
                upto += weights[m] if value <= old else 0.0
            # The old median is usually still a median, and then nothing has to be selected.
            if not below < half <= upto:
                centroids[j, t] = _weighted_median(values, mass, len(members))


@njit(cache=True, nogil=True)
def _gain(
    columns: Any, keys: Any, weights: Any, near: Any, far: Any, center: int, l1: bool, lane: Any, cost: Any
) -> float:
    """Decrease of the total cost if a point became a centre."""
    lane[:] = 0
    row = columns[:, center].copy()
    key = keys[center]
    for b in range(far.shape[0]):
        at = b * _BLOCK
        if max(keys[at] - key, key - keys[at + _BLOCK - 1]) > far[b]:
            continue
        _block_costs(columns[:, at : at + _BLOCK], row, l1, cost)
        block_near, block_weights = near[at : at + _BLOCK], weights[at : at + _BLOCK]
        for p in range(_BLOCK):
            saved: Any = np.float64(block_near[p] - cost[p])
            lane[p] += block_weights[p] * (saved if saved > 0 else 0.0)
    total = 0.0
    for p in range(_BLOCK):
        total += lane[p]
    return total


@njit(cache=True, nogil=True)
def _plus_plus(columns: Any, keys: Any, weights: Any, uniforms: Any, l1: bool, chosen: Any) -> None:
    """Greedy k-means++ among points sorted by key, a multiple of 256 of them, padding without weight.

    A centre is drawn with probability proportional to weight times cost, and of several draws the one that
    lowers the total cost most is kept. `uniforms` is [k, draws].
    """
    n = keys.shape[0]
    blocks = n // _BLOCK
    near = np.full(n, np.float32(np.inf), np.float32)
    # Radius within which a new centre could matter to a block: its largest distance to a chosen centre.
    far = np.full(blocks, np.inf)
    mass = np.empty(blocks)
    lane = np.empty(_BLOCK)
    cost = np.empty(_BLOCK, np.float32)
    for b in range(blocks):
        mass[b] = 0.0
        for p in range(b * _BLOCK, (b + 1) * _BLOCK):
            mass[b] += weights[p]
    for c in range(chosen.shape[0]):
        total = 0.0
        for b in range(blocks):
            total += mass[b]
        pick, pick_gain = -1, -1.0
        for draw in range(uniforms.shape[1]):
            rest = uniforms[c, draw] * total
            b = 0
            while b < blocks - 1 and rest >= mass[b]:
                rest -= mass[b]
                b += 1
            candidate = -1
            for p in range(b * _BLOCK, (b + 1) * _BLOCK):
                value = weights[p] * (1.0 if c == 0 else near[p])
                if value > 0.0:
                    candidate = p
                    if rest < value:
                        break
                    rest -= value
            if candidate < 0:
                # Rounding led past the last point with a weight: take the one farthest from its centre.
                candidate = 0
                for p in range(n):
                    if weights[p] > 0 and (weights[candidate] == 0 or near[p] > near[candidate]):
                        candidate = p
            if c == 0:
                pick = candidate
                break
            gain = _gain(columns, keys, weights, near, far, candidate, l1, lane, cost)
            if gain > pick_gain:
                pick, pick_gain = candidate, gain
        chosen[c] = pick
        row = columns[:, pick].copy()
        key = keys[pick]
        for b in range(blocks):
            at = b * _BLOCK
            if max(keys[at] - key, key - keys[at + _BLOCK - 1]) > far[b]:
                continue
            _block_costs(columns[:, at : at + _BLOCK], row, l1, cost)
            sum_b = 0.0
            far_b: Any = np.float32(0)
            for p in range(_BLOCK):
                near[at + p] = min(near[at + p], cost[p])
                if weights[at + p] > 0:
                    far_b = max(far_b, near[at + p])
                sum_b += weights[at + p] * near[at + p]
            near[pick] = 0
            mass[b] = sum_b
            far[b] = (far_b if l1 else np.sqrt(far_b)) * _SLACK
