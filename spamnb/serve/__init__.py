"""A resident server: the model stays in memory, and mail programs ask over a socket.

`judge` judges with models that are reopened when their files change. `spamd`, `rspamd` and `milter` are the
protocols, each of which reads requests from a `clients.Connection`. `server` listens, and stops.
"""
