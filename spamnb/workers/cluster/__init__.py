"""Work on a Dask cluster that runs already, or on one started here: the same results, byte for byte."""

LOCAL = "local"  # in place of an address: workers are started here
