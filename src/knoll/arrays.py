"""The types of arrays, named once."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
Halves = npt.NDArray[np.uint16]
Places = npt.NDArray[np.uint32]
Words = npt.NDArray[np.uint64]  # random bits
Bools = npt.NDArray[np.bool_]
