"""Local reports of several columns: post-processing of what respondents have randomised themselves."""

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.compiled.compiler import compiled


@compiled("i2", "f1", "f3", "f1", "F3", "F1")
def share_out(reports: Integers, times: Floats, logs: Floats, weights: Floats, counts: Floats, shared: Floats) -> float:
    """Divide every report among components by its probability in each; return the log-likelihood of all.

    ``logs[j, r, c]`` is the log probability of output r of column j in component c, ``weights`` the log weights.
    ``counts[j, r, c]`` gets the shares of the reports with output r in column j.
    """
    rows, columns = reports.shape
    k = len(weights)
    total = 0.0
    for i in range(rows):
        peak = -np.inf
        for c in range(k):
            value = weights[c]
            for j in range(columns):
                value += logs[j, reports[i, j], c]
            shared[c] = value
            peak = max(peak, value)
        together = 0.0
        for c in range(k):
            shared[c] = np.exp(shared[c] - peak)
            together += shared[c]
        total += times[i] * (peak + np.log(together))
        for c in range(k):
            share = times[i] * (shared[c] / together)
            for j in range(columns):
                counts[j, reports[i, j], c] += share
    return total
