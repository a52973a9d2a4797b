"""Non-private references: what the private methods are held against. Nothing here protects anybody."""

from knoll.reference.mean_shift import nonprivate_mean_shift, nonprivate_partial_mean_shift

__all__ = ["nonprivate_mean_shift", "nonprivate_partial_mean_shift"]
