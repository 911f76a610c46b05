"""Where environments that were installed before look for the program, until `make env` makes them again."""

from spamnb.__main__ import main as main
