"""DPMoG-hard: hard expectation-maximisation (Algorithm 2 of the Morse paper).

    start    a tree of released shapes, or points packed into the domain
    repeat T times:
        E  every record goes to its most probable component
        M  release the moments (1, x, x x^T) of each component + noise; move the mixture

Where we differ. The paper's second moments about a noisy mean have entries up to 4 on [-1, 1]^D, so its noise is too
small. Here displacements are clipped to each component's own ellipsoid and bounded jointly. Hard responsibilities cut
the tails of overlapping components, which makes them a little too narrow. `knoll.EMGaussianMixture` does not do this.
"""

from typing import ClassVar

from knoll.estimator import declared
from knoll.mixture.em import STEPS, EMSteps


@declared
class HardEMGaussianMixture(EMSteps):
    """A Gaussian mixture by noisy hard expectation-maximisation (DPMoG-hard), under differential privacy.

    Parameters
    ----------
    {steps}
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    {releases}

    Responsibilities are hard: a record belongs to one component.

    Examples
    --------
    >>> import knoll
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(20_000, 2, centers=[[-5, 0], [5, 0]], random_state=0)
    >>> model = knoll.HardEMGaussianMixture(2, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
    >>> sorted(model.means_[:, 0].round(0).tolist())
    [-5.0, 5.0]
    """

    _soft: ClassVar = False


HardEMGaussianMixture.__doc__ = (HardEMGaussianMixture.__doc__ or "").replace("{steps}", STEPS)
