"""A resident server: the model stays in memory, and mail programs ask over a socket.

`judge` uses models that are reopened when their files change. `spamd`, `rspamd` and `milter` have the
protocols, which read requests from a `clients.Connection`. `server` starts and stops all.
"""
