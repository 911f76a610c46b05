# No types: compiled it is loaded in 0.2 ms less, at every delivery.
