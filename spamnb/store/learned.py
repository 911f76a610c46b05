"""The messages that a model learned, as its file and its journal have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spamnb.core.native import NOT_LEARNED, LearnedMessages, crc32
from spamnb.store.stored_model import LEARNED_BLOCK

if TYPE_CHECKING:
    from spamnb.store.stored_model import StoredModel

DIGEST, RECORD = 8, 17  # bytes


def load_learned(stored: StoredModel) -> LearnedMessages:
    """Load the messages of a model file and its journal."""
    learned, column = LearnedMessages(), stored.columns["learned"]
    stored.columns["learned_index"].verify()
    if not learned.add_records(column.read(), len(stored.labels)):
        raise column.damaged()
    for record in stored.journal.records:
        label_index = NOT_LEARNED if record.after is None else stored.labels.index(record.after)
        learned.set(record.digest, label_index, record.score, record.lead)
    return learned


def learned_columns(learned: LearnedMessages) -> dict[str, bytes]:
    """Pack the messages as the columns "learned" and "learned_index" of a model file."""
    records, size = learned.records(), LEARNED_BLOCK * RECORD
    blocks = (records[at : at + size] for at in range(0, len(records), size))
    index = [block[:DIGEST] + crc32(block).to_bytes(4, "little") for block in blocks]
    return {"learned": records, "learned_index": b"".join(index)}
