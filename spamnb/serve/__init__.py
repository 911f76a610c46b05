"""A resident server: the model stays in memory, and mail programs ask over a socket.

`judge` judges by models that are reopened when their files change. `spamd`, `rspamd` and `milter` are the
protocols; none knows a socket. `listeners` and `connections` do, by asyncio's event loop; `workers` are the
processes.
"""
