"""The compiled functions once more, as chains of whole-array operations of numpy: the reference they must equal.

Every twin has the name and the arguments of its compiled function.
"""

import sys

import numpy as np

from knoll.compiled.compiler import Compiled


def to_grid(block, centre, per_step, limit, out):
    with np.errstate(all="ignore"):
        grid = np.clip(np.rint((block - centre) * per_step), -limit, limit)
    grid = grid[~np.isnan(grid).any(axis=1)]
    out[: len(grid)] = grid
    return len(grid)


to_grid_any = to_grid


def to_grid_eight(block, centre, per_step, limit, out):
    grid = np.empty(block.shape)
    kept = to_grid(block, centre, per_step, limit, grid)
    out[:kept, : block.shape[1]] = grid[:kept]
    return kept


to_grid_eight_any = to_grid_eight_columns = to_grid_eight


def pack(grid, low, high):
    moved = grid.astype(np.int64) + 2**19
    low[:] = moved % 2**16
    high[:] = ((moved >> 16) % 16 << 4 * np.arange(8)).sum(axis=1)
    return int(((moved < 0) | (moved >= 2**20)).any(axis=1).sum())


def unpack(low, high, grid):
    grid[:] = ((high[:, None] >> 4 * np.arange(8)) % 16 << 16) + low.astype(np.int64) - 2**19


def join(fine, coarse, ratio, out):
    beyond = coarse - np.rint(fine * ratio).astype(np.int64) + 4
    out[:] = 8 * fine.astype(np.int64) + beyond
    return int(((beyond < 0) | (beyond > 7)).sum())


def fine_of(joined, out):
    out[:] = joined // 8


def coarse_of(joined, ratio, out):
    out[:] = np.rint(joined // 8 * ratio) + joined % 8 - 4


def sum_of_hashes(columns):
    mixed = np.zeros(columns.shape[1], dtype=np.uint64)
    for j, column in enumerate(columns):
        mixed ^= column
        mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(29))) + np.uint64(j + 1)
    return int(mixed.sum(dtype=np.uint64))


def into_ball(grid, factor, most, radius):
    grid[:] = np.clip(np.rint(grid * factor), -most, most)
    whole = grid.astype(np.int64)
    squares = np.einsum("ij,ij->i", whole, whole).astype(np.float64)
    shorter = radius * (1.0 - 2.0**-40) / np.sqrt(np.maximum(squares, radius**2))
    shorter[squares <= radius**2] = 1.0
    grid[:] = np.trunc(grid * shorter[:, None])


def whiten_all(moved, offsets, scales, far, squares):
    moved[:] = np.clip(np.rint((moved - offsets[:, :, None]) * scales[:, :, None]), -far, far)
    squares[:] = np.einsum("kij,kij->kj", moved, moved)


def share_among(squares, per_square, heights, table, step, whole, parts):
    badness = squares * per_square[:, None] - heights[:, None]
    above = np.minimum((badness - badness.min(axis=0)) * step, len(table) - 1)
    until = np.cumsum(table.take(above.astype(np.int64)), axis=0)
    until = np.rint(until * whole / until[-1])
    parts[:] = np.diff(until, axis=0, prepend=0.0)


def add_held(moved, squares, parts, unit, full, total):
    d = moved.shape[1]
    for each, square, part, sums in zip(moved, squares, parts, total, strict=True):
        factor = unit * (1.0 - 2.0**-40) / np.sqrt(np.maximum(square, unit**2))
        v = np.where(square > unit**2, np.trunc(each * factor), each)
        sums[0] += part.sum()
        sums[1 : 1 + d] += (v * part).sum(axis=1)
        sums[1 + d :] += ((v * part) @ v.T).ravel() if full else (v * part * v).sum(axis=1)


def onto_sphere(block, radius, out):
    rows = block[~np.isnan(block).any(axis=1)].copy()
    top = np.abs(rows).max(axis=1, initial=0.0)
    endless = top == np.inf
    rows[endless] = np.where(np.isinf(rows[endless]), np.sign(rows[endless]), 0.0)
    unusual = ~endless & (top > 0.0) & ~((top > 1e-100) & (top < 1e100))
    rows[unusual] /= top[unusual, None]
    whole = rows.shape[1] - rows.shape[1] % 4
    lanes = np.zeros((4, len(rows)))
    for j in range(rows.shape[1]):
        lanes[j % 4 if j < whole else 0] += rows[:, j] * rows[:, j]
    square = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
    with np.errstate(divide="ignore"):
        factor = np.where(square > 0.0, radius / np.sqrt(square), 0.0)
    rows = np.trunc(rows * factor[:, None])
    squares = np.square(rows.astype(np.int64)).sum(axis=1).astype(float)
    long = squares > radius * radius
    rows[long] = np.trunc(rows[long] * (radius * (1.0 - 2.0**-40) / np.sqrt(squares[long]))[:, None])
    out[: len(rows)] = rows
    return len(rows)


onto_sphere_any = onto_sphere


def nearest_of(grid, slope, offset, tag, labels):
    labels[:] = (slope @ grid.T + offset[:, None]).min(axis=0).astype(np.int64) & (tag - 1)


def nearest_of_eight(grid, slope, offset, tag, labels):
    assert grid.dtype == np.int32
    assert grid.shape[1] == slope.shape[1] == 8
    nearest_of(grid.astype(float), slope, offset, tag, labels)


def nearest_within(grid, order, group, ends, slope, offset, tag, labels):
    for g in np.unique(group):
        mine, held = group == g, slice(ends[g], ends[g + 1])
        scores = slope[held] @ grid[mine].T + offset[held, None]
        labels[mine] = ends[g] + scores.argmin(axis=0)


def down_tree(grid, axis, threshold, left, number, depth, labels):
    node, rows = np.zeros(len(grid), dtype=np.int64), np.arange(len(grid))
    for _ in range(depth + 3):  # leaves lead to themselves
        node = left[node] + (grid[rows, axis[node]] > threshold[node])
    labels[:] = number[node]


def down_tree_eight(grid, onward, cut, number, depth, labels):
    onward = onward.astype(np.int64)
    down_tree(grid, onward % 8, cut, onward // 8, number, depth, labels)


def _add(total, labels, *parts):
    inside = labels >= 0
    np.add.at(total, labels[inside], np.column_stack(parts)[inside].astype(np.int64))


def add_sums(grid, labels, total):
    _add(total, labels, np.ones(len(grid)), grid)


def add_sums_eight(grid, labels, total):
    _add(total, labels, grid, np.ones(len(grid)))


def _displacements(grid, origin, per_step, bits):
    with np.errstate(over="ignore"):
        moved = (grid - origin) * per_step
    moved = np.clip(np.trunc(moved), -16.0 * 2**bits, 16.0 * 2**bits)
    into_ball(moved, 1.0, 2.0**24, float(2**bits))
    return moved


def add_shapes(grid, labels, origin, per_step, bits, total):
    moved = _displacements(grid, origin[labels], per_step[labels], bits)
    _add(total, labels, np.ones(len(grid)), moved, np.trunc(np.square(moved) / 2**bits))


def add_shapes_eight(grid, labels, origin, per_step, bits, total):
    moved = _displacements(grid, origin[labels], per_step[labels], bits)
    _add(total, labels, moved, np.trunc(np.square(moved) / 2**bits), np.ones(len(grid)))


def add_products(grid, origin, per_step, bits, total):
    moved = _displacements(grid, origin, per_step, bits)
    total += np.triu(np.trunc(moved[:, :, None] * moved[:, None] / 2**bits).sum(axis=0)).astype(np.int64)


def add_rows(values, labels, total):
    for j, column in enumerate(values.T):
        total[:, j] += np.bincount(labels + 1, column, len(total) + 1)[1:]


def nearest_points(points, centres, labels):
    labels[:] = [np.square(point - centres).sum(axis=1).argmin() for point in points]


def waves(points, turns, cosines, sines, even, odd):
    phase = 2 * np.pi * (points @ turns)
    even[:] = cosines * np.cos(phase) + sines * np.sin(phase)
    odd[:] = sines * np.cos(phase) - cosines * np.sin(phase)


def share_out(reports, times, logs, weights, counts, shared):
    each = weights + sum(logs[j][reports[:, j]] for j in range(reports.shape[1]))
    peak = each.max(axis=1, keepdims=True)
    together = np.exp(each - peak).sum(axis=1, keepdims=True)
    share = times[:, None] * (np.exp(each - peak) / together)
    for j in range(reports.shape[1]):
        np.add.at(counts[j], reports[:, j], share)
    return float(times @ (peak + np.log(together))[:, 0])


def all_compiled():
    """Module, name and object of every compiled function, wherever one of our modules holds it."""
    for module in [each for name, each in sys.modules.items() if name.startswith("knoll.")]:
        for name, each in list(vars(module).items()):
            if isinstance(each, Compiled):
                yield module, name, each


READERS = (
    "knoll.compiled.texts", "knoll.compiled.levels", "knoll.compiled.logs",
    "knoll.numeric.posterior.chains", "knoll.numeric.posterior.paint",
)  # fmt: skip
"""Read values, one by one, before records are rows, or see no record at all: compared where they are tested."""


def unit_entries(ends, columns, values, place, weights, unit, to, grid, stops):
    filled = 0
    for i in range(len(ends) - 1):
        row = slice(ends[i], ends[i + 1])
        at, value = place[columns[row]], values[row]
        if np.isnan(value).any():
            stops[i] = -1
            continue
        weighed = np.clip(value, -1e200, 1e200) * np.where(at < 0, 0.0, weights[at])
        kept = (at >= 0) & (weighed != 0.0)
        at, weighed = at[kept], weighed[kept]
        if len(at):
            weighed = weighed / np.abs(weighed).max()
            square = 0.0
            for each in weighed:  # in order: a sum of numpy's is not
                square += each * each
            weighed = np.trunc(weighed * (unit * (1.0 - 2.0**-40) / np.sqrt(square)))
        to[filled : filled + len(at)], grid[filled : filled + len(at)] = at, weighed
        filled += len(at)
        stops[i] = filled
    return filled


def _entries(stops, to, grid):
    """Places and values of each row that holds no NaN."""
    first = 0
    for stop in stops[stops >= 0]:
        yield to[first:stop], grid[first:stop].astype(np.int64)
        first = stop


def fill_rows(stops, to, grid, out):
    rows = 0
    for rows, (at, value) in enumerate(_entries(stops, to, grid), start=1):
        out[rows - 1, at] = value
    return rows


def add_pairs(stops, to, grid, bits, total):
    for at, value in _entries(stops, to, grid):
        n, m = np.triu_indices(len(at), 1)
        product = value[n] * value[m]
        np.add.at(
            total, (np.minimum(at[n], at[m]), np.maximum(at[n], at[m])), np.sign(product) * (abs(product) >> bits)
        )


def add_entries(stops, to, grid, labels, total):
    for (at, value), cell in zip(_entries(stops, to, grid), labels, strict=True):
        total[cell, 0] += 1
        total[cell, 1 + at] += value


def add_columns(ends, columns, values, unit, total):
    for i in range(len(ends) - 1):
        row = slice(ends[i], ends[i + 1])
        held = columns[row][values[row] != 0.0]
        if len(held) and not np.isnan(values[row]).any():
            total[held] += int(unit * (1.0 - 2.0**-40) / np.sqrt(float(len(held))))


def use_plain(monkeypatch):
    """Put the twins in place of all compiled functions of records."""
    for module, name, function in list(all_compiled()):
        if function.__module__ not in READERS:
            monkeypatch.setattr(module, name, globals()[name])
