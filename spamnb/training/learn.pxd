# No types: it is compiled because learning a message loads it.
