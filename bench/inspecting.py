"""What explaining costs beside classifying, and what it costs to summarise and check five million tokens.

.venv/bin/python bench/inspecting.py MODEL MAIL …    (a model trained on such mail, and messages to explain)
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from clock import alone
from models import LARGE, make
from peers import Command

from spamnb.inspection.explanation import explain
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.sources import messages
from spamnb.model import Model

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_MESSAGES = 1000  # messages
SPAMNB = os.path.join(os.path.dirname(sys.executable), "spamnb")


def seconds(run: Callable[[Model, bytes], object], path: str, mail: list[bytes]) -> float:
    """Processor time for mail that the model has not met since it was opened."""
    model = Model.open(path)
    start = time.process_time()
    for raw in mail:
        run(model, raw)
    return time.process_time() - start


def main(path: str, *sources: str) -> None:
    found = [
        raw.data
        for raw, _ in zip(messages(sources), range(MAX_MESSAGES), strict=False)
        if isinstance(raw, RawMessage)
    ]
    ratios = []
    for _ in range(3):
        classifying = seconds(Model.classify, path, found)
        ratios.append(seconds(explain, path, found) / classifying)
    span = f"{min(ratios):.2f} to {max(ratios):.2f}"
    print(f"explaining {len(found):,} messages: {span} times classifying (limit 1.5)")
    with tempfile.TemporaryDirectory() as folder:
        large = os.path.join(folder, "model")
        make(large, path, LARGE)
        used = alone(Command([SPAMNB, "inspect", "--model", large]))
        print(f"{LARGE:,} tokens summarised: {used.seconds:.2f} s, {used.peak:.0f} MB (limits 2 s, 300 MB)")
        used = alone(Command([SPAMNB, "check", large]))
        print(f"{LARGE:,} tokens checked: {used.seconds:.2f} s, {used.peak:.0f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
