"""Topic maps: clusters of embeddings, tags and bags of words, and the words on them."""
