"""A resident server: the model stays in memory, and mail programs ask over a socket.

`judge` judges with models that follow their files. `spamd`, `milter` and `metrics` are the protocols spoken;
none knows a socket. `connections` does, by asyncio's event loop; `workers` are the processes.
"""
