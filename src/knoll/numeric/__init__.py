"""Pure functions without privacy: weighted k-means, breathing, Ward, packing, mixtures."""
