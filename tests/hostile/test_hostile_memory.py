"""A delivery fits into the memory that is stated, whatever the message; so does a mailbox of any size."""

import subprocess
import sys

import pytest
from fuzz.families import BODY, BOX, FAMILIES, HEADERS

MB = 1 << 20
SIZE = 4 * MB
# What the docs state: of the whole address space, programs and libraries included.
START, TIMES = 48 * MB, 12
MAILBOX = 300 * MB  # resident, numpy and all: a message of 64 MB, the largest that is kept, three times

DELIVERIES = [
    *((HEADERS, name) for name in ("folded lines", "forged verdicts", "many headers")),
    *((BODY, name) for name in ("noise", "base64", "parts", "distinct elements", "open paragraphs")),
]


@pytest.mark.parametrize(("kind", "name"), DELIVERIES)
def test_a_delivery(spamnb, kind, name):
    raw = FAMILIES[kind][name](SIZE)
    most = (START + TIMES * SIZE) // 1024
    done = spamnb.shell(f'ulimit -v {most}; exec "$0" classify -p', raw).succeeds()
    assert done.out.endswith(raw[-4:])


# In a process of its own, whose peak is its own.
PEAK = """
import sys
from spamnb.training.batches import batch_of
from spamnb.mailboxes.sources import chunks
from spamnb.reading.settings import Settings
from spamnb.core.native import BatchReader

reader = BatchReader(Settings())
for chunk in chunks([sys.argv[1]]):
    batch_of(chunk, None, reader)
with open("/proc/self/status") as file:
    print(next(line.split()[1] for line in file if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's /proc")
@pytest.mark.parametrize(
    ("name", "size"), [("gzip", 150 * MB), ("empty messages", MB), ("messages", MB // 2)]
)
def test_a_mailbox(tmp_path, name, size):
    """A compressed bomb among them: 150 MB in 150 KB."""
    box = tmp_path / "box"
    box.write_bytes(FAMILIES[BOX][name](size))
    done = subprocess.run([sys.executable, "-c", PEAK, str(box)], capture_output=True, text=True, check=True)
    assert int(done.stdout) << 10 < MAILBOX
