"""Compiled loops over records: each record by itself, in a fixed order of correctly rounded operations.

A function here takes arrays and fills arrays; it knows nothing of queries, noise or budgets. Its arithmetic is that of
IEEE 754, as written: no reordering, no fused multiply-add (`tests/compiled`). So what it makes of a record is a
function of that record alone, bit for bit, on any machine, in any block, lane or thread.
"""
