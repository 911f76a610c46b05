"""How many bytes of mail the workers hold: requests, answers that wait to be read, lessons that wait."""

import mmap

MOST_HELD = 4  # all workers together may hold this many times the bytes that one message may have
CELL_BYTES = 8


class HeldBytes:
    """Bytes held by each worker, in memory that all workers share."""

    def __init__(self, largest: int, workers: int = 1) -> None:
        self.most = MOST_HELD * largest
        self.cells = memoryview(mmap.mmap(-1, workers * CELL_BYTES)).cast("q")
        self.worker = 0

    def use_cell(self, worker: int) -> None:
        """Count for a worker, which holds nothing yet, whatever the one before it held."""
        self.worker = worker
        self.cells[worker] = 0

    @property
    def own(self) -> int:
        return self.cells[self.worker]

    def change(self, size: int) -> None:
        self.cells[self.worker] += size

    @property
    def are_too_many(self) -> bool:
        """Whether this worker is to let go of some: all hold too many, and it more than its share."""
        return sum(self.cells) > self.most and self.own > self.most // len(self.cells)

    def take(self, size: int) -> bool:
        """Count so many more bytes, unless that were too many."""
        self.change(size)
        if self.are_too_many:
            self.change(-size)
            return False
        return True
