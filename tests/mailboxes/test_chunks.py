"""Mail that other processes read, put together again, is the same mail."""

import gzip
import os
import random

from helpers.mailboxes import described, put, together, written

from spamnb.mailboxes import sources
from spamnb.mailboxes.chunks import MessageFiles, ReadMessages


def test_what_other_processes_read_and_what_is_read_here(tmp_path):
    noise = random.Random(1).randbytes(300_000).hex().encode()
    mail = [b"A: %d\n\n" % n + noise[n : n + 9999] + b"\n" for n in range(0, 500_000, 5000)]
    box = written(mail)
    packed = gzip.compress(box, 1)
    for n, data in enumerate((mail[0][:3000], mail[1][:3000], box, packed, packed[:-99], noise), 1):
        put(tmp_path / str(n), data)
    chunks = list(sources.chunks([str(tmp_path)], size=100_000))
    kinds = [type(chunk) for chunk in chunks]
    read_here = [ReadMessages] * kinds.count(ReadMessages)
    assert kinds == [MessageFiles, *read_here, MessageFiles]
    assert len(read_here) > 20
    assert sum(chunk.size for chunk in chunks) == sources.total_size([str(tmp_path)])
    found = together(chunks)
    assert found == [described(item) for item in sources.messages([str(tmp_path)])]
    assert [index for path, index, _ in found[2:102]] == [*range(100)]
    assert [os.path.basename(path) for path, *rest in found if "damaged" in str(rest)] == ["5"]
