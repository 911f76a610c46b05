"""Pages to look at: an evaluation, a message and its evidence."""
