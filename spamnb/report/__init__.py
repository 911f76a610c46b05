"""Pages and pictures to look at: an evaluation, a message and its evidence, a model."""
