# No types: it is compiled because a delivery loads it.
