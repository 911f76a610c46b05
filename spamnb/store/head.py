"""The head of a model file: read, checked, and what it says about where each column lies.

The core reads its msgpack: to import the library of that name takes 4 of the 14 ms of a delivery (measured).
"""

from spamnb.core.native import crc32
from spamnb.errors import WHAT_TO_DO, ModelError
from spamnb.labels import MOST_LABELS, is_label
from spamnb.store import msgpack_codec
from spamnb.store.msgpack_codec import is_integer, is_number
from spamnb.store.records import Column

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spamnb.store.records import File

FORMAT = "spamnb"
VERSION = 7  # rises when the file changes, or the tokens that are made of the same mail
SIGNATURE = b"\xa6format\xa6spamnb"  # what a model file begins with, behind the first bytes of a map
USUAL_HEAD = 1 << 14  # bytes read first; a head with many stop words is longer
LONGEST_HEAD = 1 << 20  # bytes
LARGEST_SUM = 1e100  # of a numeric feature: what is computed of it stays finite
WHOLE = "BHIQ"  # types of whole numbers
COLUMNS = {"entries": "B", "index": "QII", "learned": "QBff", "gram_counters": "I", "grams": WHOLE}
TOTALS = ("messages", "presences", "occurrences", "pair_presences")  # lists in the head, a count a label


def read_head(file: "File") -> "tuple[dict[str, Any], int]":
    """Return the head of the file, with all but the columns, and the offset behind it."""
    size, most = min(file.size, USUAL_HEAD), min(file.size, LONGEST_HEAD)
    while True:
        front = file.read(0, size)
        if SIGNATURE not in front[:24]:
            raise ModelError(file.path, "not a spamnb model; name another file with --model")
        try:
            return _parse_head(file.path, front)
        except (msgpack_codec.Damaged, TypeError) as error:
            if size == most:
                raise ModelError(file.path, f"not a spamnb model, or cut short; {WHAT_TO_DO}") from error
        size = min(most, 64 * size)


def _parse_head(path: str, data: bytes) -> "tuple[dict[str, Any], int]":
    entries, at = _map_size(data)
    front: dict[Any, Any] = {}
    for _ in range(4):  # format, version, crc32, head
        key, at = msgpack_codec.unpack(data, at)
        start = at
        front[key], at = msgpack_codec.unpack(data, at)
    version, head = front.get("version"), front.get("head")
    if type(version) is int and version != VERSION:
        age = "a newer" if version > VERSION else "an older"
        raise ModelError(path, f"made by {age} spamnb (format {version}); train again with --fresh")
    sound = type(version) is int and crc32(data[start:at]) == front.get("crc32")
    if not sound or not isinstance(head, dict) or entries != 4 + len(head.get("columns", ())):
        raise ModelError(path, f"its head is damaged; {WHAT_TO_DO}")
    try:
        _check_head(head)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(path, f"its head is damaged; {WHAT_TO_DO}") from error
    return head, at


def _check_head(head: "dict[str, Any]") -> None:
    """Raise an error if a head says what spamnb would not have written; settings and view are not looked at.

    A checksum tells damage. What somebody wrote on purpose is told here, for all that open a model.
    """
    labels, numbers = head["labels"], head["numbers"]
    fits = (
        0 < len(labels) <= MOST_LABELS
        and len(set(labels)) == len(labels)
        and all(is_label(label) for label in labels)
    )
    for name in TOTALS:
        fits = fits and len(head[name]) == len(labels) and all(is_integer(count) for count in head[name])
    fits = fits and all(isinstance(head[name], list) for name in ("labels", "columns", *TOTALS))
    fits = fits and is_integer(head["vocabulary"]) and is_integer(head["pair_vocabulary"])
    fits = fits and is_integer(head["generation"], 0, (1 << 64) - 1)
    for name, by_label in numbers.items():
        fits = fits and is_label(name) and len(by_label) == len(labels)
        for count, total, squares in by_label:
            fits = fits and is_integer(count) and is_number(total, -LARGEST_SUM, LARGEST_SUM)
            fits = fits and is_number(squares, 0, LARGEST_SUM)
    fits = fits and is_number(head["ham_loss"], 0, 1)
    fits = fits and is_number(head.get("margin", 0)) and _has_limits(head)
    base = head.get("base")
    if base is not None:
        fits = fits and isinstance(base["path"], str) and "\0" not in base["path"]
    if not fits:
        raise ValueError("not what spamnb writes")


def _has_limits(head: "dict[str, Any]") -> bool:
    """Tell whether cutoffs, shares of misfiled mail and calibration are such numbers as training finds."""
    misfiled = head.get("misfiled", [0, 0])
    (ham, spam), (slope, intercept) = head["cutoffs"], head["calibration"]
    fits = is_number(ham) and is_number(spam)
    fits = fits and len(misfiled) == 2 and all(is_number(share, 0, 1) for share in misfiled)
    return fits and all(is_number(each, -LARGEST_SUM, LARGEST_SUM) for each in (slope, intercept))


def _map_size(data: bytes) -> tuple[int, int]:
    """Return the number of entries of the outermost map, and the offset of the first."""
    if data[0] & 0xF0 == 0x80:
        return data[0] & 0x0F, 1
    if data[0] == 0xDE and len(data) >= 3:
        return int.from_bytes(data[1:3], "big"), 3
    raise msgpack_codec.Damaged("no map")


def locate_columns(file: "File", head: "dict[str, Any]", at: int) -> dict[str, Column]:
    """Locate each column by the sizes in the head, or raise an error; the bytes themselves are not read."""
    columns = {}
    for name, kind, size, checksum in head["columns"]:
        fits = kind == COLUMNS[name] or (name == "grams" and kind in tuple(WHOLE))
        if not fits or name in columns or not is_integer(size) or not is_integer(checksum):
            raise ValueError(name)
        at += 1 + len(name) + 5  # its key, a short string, and the five bytes in front of a bin
        columns[name] = Column(file, name, kind, at, size, checksum)
        at += size
    if len(columns) != len(COLUMNS):
        raise ValueError("not the columns of a model")
    if at != file.size:
        raise ModelError(file.path, f"cut short: {file.size} bytes of {at}; {WHAT_TO_DO}")
    return columns
