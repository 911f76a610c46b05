# No types: it is compiled because a delivery of mail that is not ASCII loads it.
