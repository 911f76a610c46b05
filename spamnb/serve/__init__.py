"""The server: it keeps the model in memory, and answers requests of mail programs over sockets.

`judge` judges mail, and reopens models whose files have changed. `spamd`, `rspamd` and `milter` speak one
protocol each, over the connections of `clients`. `server` starts and stops everything.
"""
