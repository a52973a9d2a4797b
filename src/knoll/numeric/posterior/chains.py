"""Compiled loops of the sampler: public numbers and released values in, draws out. No record is looked at.

All fields, tables and constants are divided by the variance of the noise. State of a chain: places `at` (K, d), widths
`level` (K,), and, of the matrix A = G + prior, its inverse P (K, K), P b and P 1. A column's distance from another is
looked up: `table[a, b]` holds the kernel, smeared by two widths, at distances from 0 to the root of `reach[a, b]`.
"""

import math

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.compiled.compiler import compiled

MOVES = 3  # of each Gaussian in a sweep: a step, a step with another width, a jump
NUMBERS = 5  # uniform random numbers to a move, and one more for each column
_SHORTEST = 5.0  # octaves below the longest step


@compiled("f2", "i1", "f1", "i", "f1")
def field_at(fields: Floats, shape: Integers, gap: Floats, level: int, place: Floats) -> float:
    """Return the field of a width at a place, between the nodes of its grid."""
    total = 0.0
    for corner in range(1 << len(gap)):
        weight, node = 1.0, 0
        for j in range(len(gap)):
            i = min(int(place[j] / gap[j]), shape[j] - 2)
            part = place[j] / gap[j] - i
            upper = (corner >> j) & 1
            weight *= part if upper else 1.0 - part
            node = node * shape[j] + i + upper
        total += weight * fields[level, node]
    return total


@compiled("f3", "f2", "i", "i", "f")
def kernel_at(table: Floats, reach: Floats, one: int, other: int, square: float) -> float:
    """Return the kernel between two widths at a squared distance, without its constant part."""
    if square >= reach[one, other]:
        return 0.0
    t = math.sqrt(square / reach[one, other]) * (table.shape[2] - 1)
    i = int(t)
    return table[one, other, i] + (t - i) * (table[one, other, i + 1] - table[one, other, i])


@compiled("f2", "i1", "f3", "f2", "f1", "f", "F2", calls=(kernel_at,))
def factorise(
    at: Floats, level: Integers, table: Floats, reach: Floats, own: Floats, even: float, root: Floats
) -> None:
    """Write the Cholesky factor of the matrix A, its lower half."""
    size, d = at.shape
    for i in range(size):
        for j in range(i + 1):
            if i == j:
                value = own[level[i]]
            else:
                square = 0.0
                for c in range(d):
                    square += (at[i, c] - at[j, c]) ** 2
                value = even + kernel_at(table, reach, level[i], level[j], square)
            for e in range(j):
                value -= root[i, e] * root[j, e]
            root[i, j] = value / root[j, j] if i > j else math.sqrt(max(value, 1e-9 * own[level[i]]))


@compiled("f2", "f1", "F2", "F1", "F1")
def invert(root: Floats, pull: Floats, inverse: Floats, weight: Floats, ones: Floats) -> None:
    """Write the inverse of A, from its factor, and the products of the inverse with the pulls and with ones."""
    size = len(root)
    for j in range(size):  # solve for one column of the identity after the other
        for i in range(size):
            value = 1.0 if i == j else 0.0
            for e in range(j, i):
                value -= root[i, e] * inverse[j, e]
            inverse[j, i] = value / root[i, i] if i >= j else 0.0
        for i in range(size - 1, -1, -1):
            value = inverse[j, i]
            for e in range(i + 1, size):
                value -= root[e, i] * inverse[j, e]
            inverse[j, i] = value / root[i, i]
    for i in range(size):
        weight[i] = 0.0
        ones[i] = 0.0
        for j in range(size):
            weight[i] += inverse[i, j] * pull[j]
            ones[i] += inverse[i, j]


@compiled("f2", "f1", "F1")
def scatter(root: Floats, normal: Floats, weight: Floats) -> None:
    """Add noise whose covariance is the inverse of A to the mean weights: a draw of them."""
    size = len(normal)
    noise = np.empty(size)
    for i in range(size - 1, -1, -1):
        noise[i] = normal[i]
        for e in range(i + 1, size):
            noise[i] -= root[e, i] * noise[e]
        noise[i] /= root[i, i]
    for i in range(size):
        weight[i] += noise[i]


@compiled(
    "f2", "i1", "f3", "f2", "f1", "f", "f2", "f1", "f1", "i", "f1", "i", "f", "F1", "I1", "F1", calls=(kernel_at,)
)
def weigh(
    at: Floats, level: Integers, table: Floats, reach: Floats, own: Floats, even: float, inverse: Floats,
    weight: Floats, ones: Floats, j: int, to: Floats, width: int, pull: float, near: Floats, held: Integers,
    found: Floats,
) -> float:  # fmt: skip
    """Return the log-likelihood of Gaussian j at another place, all weights integrated out, but for what others add.

    Writes the kernel to the others (`near`, `held`: which are not zero), and to `found` the Schur complement, what is
    left of the pull, the number held and the product of `near` with row j of the inverse.
    """
    n, by_weight, by_row, by_ones, square_form = 0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(level)):
        near[i] = 0.0
        if i != j:
            square = 0.0
            for c in range(len(to)):
                square += (to[c] - at[i, c]) ** 2
            value = kernel_at(table, reach, width, level[i], square)
            if value > 0.0:
                near[i] = value
                held[n] = i
                n += 1
                by_weight += value * weight[i]
                by_row += value * inverse[j, i]
                by_ones += value * (ones[i] - inverse[i, j])
    total, everything = 0.0, 0.0
    for i in range(len(level)):
        total += weight[i]
        everything += ones[i]
    for a in range(n):
        row = 0.0
        for b in range(a):
            row += inverse[held[a], held[b]] * near[held[b]]
        square_form += near[held[a]] * (2.0 * row + inverse[held[a], held[a]] * near[held[a]])
    corner = inverse[j, j]
    square_form += 2.0 * even * by_ones + even * even * (everything - 2.0 * ones[j] + corner)
    by_weight += even * (total - weight[j])
    by_row += even * (ones[j] - corner)
    found[0] = own[width] - square_form + by_row * by_row / corner
    found[1] = pull - by_weight + by_row * weight[j] / corner
    found[2] = n
    found[3] = by_row
    if found[0] <= 1e-9 * own[width]:  # hidden by the others, up to rounding
        return -np.inf
    return 0.5 * found[1] * found[1] / found[0] - 0.5 * math.log(found[0])


@compiled("i", "f1", "i1", "f1", "f", "F2", "F1", "F1", "F1", "F1")
def replace_row(
    j: int, near: Floats, held: Integers, found: Floats, even: float, inverse: Floats, weight: Floats, ones: Floats,
    old: Floats, new: Floats,
) -> None:  # fmt: skip
    """Put Gaussian j at the place that was weighed. One row of the matrix changes, its inverse by two outer products.

    `old` and `new` are scratch.
    """
    size, corner, schur = len(near), inverse[j, j], found[0]
    rest = 1.0
    for a in range(size):
        old[a] = inverse[a, j]
    for a in range(size):
        value = even * (ones[a] - old[a]) - old[a] * found[3] / corner
        for b in range(int(found[2])):
            value += near[held[b]] * inverse[a, held[b]]
        new[a] = value
        rest -= value if a != j else 0.0
    new[j] = -1.0
    at_weight, at_ones = weight[j] / corner, ones[j] / corner
    for a in range(size):
        weight[a] -= old[a] * at_weight + new[a] * found[1] / schur
        ones[a] -= old[a] * at_ones + new[a] * rest / schur
        plus, minus = new[a] / schur, old[a] / corner
        for b in range(size):
            inverse[a, b] += plus * new[b] - minus * old[b]


@compiled("f2", "i", "f1", "f", "f1", "i1", "f1")
def jump_density(at: Floats, j: int, to: Floats, jump: float, guide: Floats, shape: Integers, gap: Floats) -> float:
    """Return the density of jumps of Gaussian j at a place: half beside the others, half by the guide."""
    beside, d, node = 0.0, len(to), 0
    for i in range(len(at)):
        if i != j:
            square = 0.0
            for c in range(d):
                square += (to[c] - at[i, c]) ** 2
            beside += math.exp(-square / (2.0 * jump * jump))
    for c in range(d):
        node = node * (shape[c] - 1) + min(int(to[c] / gap[c]), shape[c] - 2)
    scale = (2.0 * math.pi * jump * jump) ** (d / 2.0) * (len(at) - 1)
    return 0.5 * beside / scale + 0.5 * guide[node]


@compiled("i", "i", "f2", "i1", "i", "f1", "f1", "f", "f", "f1", "i1", "f1", "f1", "F1")
def propose(
    kind: int, j: int, at: Floats, level: Integers, widths: int, uniform: Floats, normal: Floats, step: float,
    jump: float, below: Floats, shape: Integers, gap: Floats, window: Floats, to: Floats,
) -> int:  # fmt: skip
    """Write where Gaussian j may go; return the width that it may have there, or -1 if that is outside."""
    d, width = len(to), level[j]
    if kind < 2:
        length = step * 2.0 ** (-_SHORTEST * uniform[0] - kind)
        for c in range(d):
            to[c] = at[j, c] + length * normal[c]
        if kind == 1:
            width += 1 if uniform[1] < 0.5 else -1
    else:
        width = int(uniform[1] * widths)
        if uniform[0] < 0.5:
            other = int(uniform[2] * (len(at) - 1))
            other += 1 if other >= j else 0
            for c in range(d):
                to[c] = at[other, c] + jump * normal[c]
        else:
            node = min(np.searchsorted(below, uniform[2]), len(below) - 1)
            for c in range(d - 1, -1, -1):
                to[c] = (node % (shape[c] - 1) + uniform[3 + c]) * gap[c]
                node //= shape[c] - 1
    for c in range(d):
        if not 0.0 <= to[c] < window[c]:
            return -1
    return width if 0 <= width < widths else -1


@compiled(
    "F2", "I1", "f2", "i1", "f1", "f3", "f2", "f1", "f", "f1", "f1", "f1", "f", "f", "f", "f3", "f3", "f2", "i", "F3",
    "I2", "F2", calls=(field_at, factorise, invert, scatter, weigh, replace_row, jump_density, propose),
)  # fmt: skip
def run(
    at: Floats, level: Integers, fields: Floats, shape: Integers, gap: Floats, table: Floats, reach: Floats,
    own: Floats, even: float, window: Floats, guide: Floats, below: Floats, step: float, jump: float, alone: float,
    uniform: Floats, normal: Floats, drawn: Floats, every: int, places: Floats, widths: Integers, weights: Floats,
) -> int:  # fmt: skip
    """Run a chain from a start, which it overwrites. Write every so many sweeps a draw, beginning from the end.

    The prior of the places is even. A width is as likely as it is common among the others, plus `alone`. The random
    numbers are handed over: `uniform` and `normal` (sweeps, moves, numbers) for moves, `drawn` (draws, K) for weights.
    Returns the number of moves that were accepted.
    """
    size, d, most, accepted = len(level), at.shape[1], len(own), 0
    inverse, root = np.empty((size, size)), np.empty((size, size))
    weight, ones, pull = np.empty(size), np.empty(size), np.empty(size)
    near, held, found, to = np.empty(size), np.empty(size, np.int64), np.empty(4), np.empty(d)
    old, new, common = np.empty(size), np.empty(size), np.zeros(most)
    for i in range(size):
        pull[i] = field_at(fields, shape, gap, level[i], at[i])
        common[level[i]] += 1.0
    for sweep in range(len(uniform)):
        factorise(at, level, table, reach, own, even, root)
        invert(root, pull, inverse, weight, ones)
        for move in range(uniform.shape[1]):
            u, kind = uniform[sweep, move], move % MOVES
            j = move // MOVES if kind < 2 else min(int(u[4 + d] * size), size - 1)
            m = propose(kind, j, at, level, most, u, normal[sweep, move], step, jump, below, shape, gap, window, to)
            if m < 0:
                continue
            b, was = field_at(fields, shape, gap, m, to), level[j]
            gain = weigh(at, level, table, reach, own, even, inverse, weight, ones, j, to, m, b, near, held, found)
            gain -= 0.5 * weight[j] * weight[j] / inverse[j, j] + 0.5 * math.log(inverse[j, j])
            gain += math.log((common[m] + alone - (m == was)) / (common[was] + alone - 1.0))
            if kind == 2:
                gain += math.log(jump_density(at, j, at[j], jump, guide, shape, gap))
                gain -= math.log(jump_density(at, j, to, jump, guide, shape, gap))
            if math.log(max(u[3 + d], 1e-300)) < gain:
                replace_row(j, near, held, found, even, inverse, weight, ones, old, new)
                common[was] -= 1.0
                common[m] += 1.0
                at[j], level[j], pull[j] = to, m, b
                accepted += 1
        left = len(uniform) - 1 - sweep
        if left % every == 0 and left // every < len(places):
            n = left // every
            factorise(at, level, table, reach, own, even, root)
            invert(root, pull, inverse, weight, ones)
            scatter(root, drawn[n], weight)
            places[n], widths[n], weights[n] = at, level, weight
    return accepted


@compiled("F2", "i1", "f1", "f3", "f2", "f1", "f", "f1", "F2", "I1", calls=(kernel_at,))
def grow(
    left: Floats, shape: Integers, gap: Floats, table: Floats, reach: Floats, own: Floats, even: float,
    jitter: Floats, at: Floats, level: Integers,
) -> None:  # fmt: skip
    """Place Gaussians one by one where the likelihood grows most. `left`, the fields at nodes, is overwritten.

    `jitter` is added to the log-likelihood at each node, so that starts differ.
    """
    d, nodes, gone = at.shape[1], left.shape[1], 0.0
    for i in range(len(level)):
        best, node = -np.inf, 0
        for m in range(len(own)):
            low = 0.5 * math.log(own[m])
            for p in range(nodes):
                pull = left[m, p] - gone
                score = 0.5 * pull * abs(pull) / own[m] - low + jitter[p]
                if score > best:
                    best, node, level[i] = score, p, m
        weight = (left[level[i], node] - gone) / own[level[i]]
        gone += weight * even
        for c in range(d - 1, -1, -1):
            at[i, c] = (node % shape[c]) * gap[c]
            node //= shape[c]
        block = nodes // shape[0]
        for m in range(len(own)):
            end = reach[m, level[i]]
            for a in range(shape[0]):
                if (a * gap[0] - at[i, 0]) ** 2 >= end:
                    continue
                for p in range(a * block, (a + 1) * block):
                    rest, square = p, 0.0
                    for c in range(d - 1, -1, -1):
                        square += ((rest % shape[c]) * gap[c] - at[i, c]) ** 2
                        rest //= shape[c]
                    left[m, p] -= weight * kernel_at(table, reach, m, level[i], square)
