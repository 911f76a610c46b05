"""The review page: what the filter did, why, and how to put it right, in a browser on this machine."""
