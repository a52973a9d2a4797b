"""The way from scikit-learn's `fit(X)` to the door, the same for every estimator: X becomes rows behind a curator."""

from knoll.engines.share import one_thread
from knoll.estimator.declared import DropsUnseen, HasMetric, declared
from knoll.estimator.fit import PrivateFit, unfitted
from knoll.estimator.opening import FitContext, open_curator

__all__ = ["DropsUnseen", "FitContext", "HasMetric", "PrivateFit", "declared", "one_thread", "open_curator", "unfitted"]
