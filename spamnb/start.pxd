# No types: it is compiled because every delivery loads it.
