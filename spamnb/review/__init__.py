"""The review page in a browser on this machine: what the filter did and why, and corrections of it."""
