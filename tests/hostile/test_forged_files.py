"""What somebody wrote into a file on purpose, its checksums made again, is refused as damage is."""

import time
from binascii import crc32
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from fuzz.file_checks import HAM, SPAM, sound_model
from helpers.forging import forged_fields, forged_model

from spamnb.errors import SpamnbError
from spamnb.exchange.merging import merge
from spamnb.history import log
from spamnb.history.queries import History
from spamnb.inspection.check import check
from spamnb.model import Model
from spamnb.store import journal
from spamnb.store.stored_model import StoredModel
from spamnb.training.learn import learn

EVIL = "spam\nX-Evil: 1"
NO_LABELS = (EVIL, "", "unsure", "UNSURE", "a\rb", "a\x1b[2Jb", "a\u202eb", "a\0b", "x" * 101)


def any_of(**values: tuple[Any, ...]) -> list[tuple[tuple[Any, ...], Any]]:
    """Each value with the place it is to be put: keys and indices of the head, between two underscores."""
    return [
        (tuple(int(key) if key.isdigit() else key for key in places.split("__")), value)
        for places, chosen in values.items()
        for value in chosen
    ]


NO_COUNT, NO_KIND = (-1, nan, 1.5, "1", None, True), ("QB", "B", "I", "f", "x", "", 7)
NO_COLUMN, NO_RATE = (EVIL, "tokens", 7, None), (nan, inf, -1.0, "x", [1.0])
HEADS = [
    *any_of(
        labels__1=(*NO_LABELS, "ham", 7, None, b"spam", ["spam"]),
        labels=([], ["ham"], ["ham", "spam", "bills"], "hs", {"ham": 1, "spam": 2}, 7, ...),
        messages__0=NO_COUNT,
        presences__0=NO_COUNT,
        occurrences__0=NO_COUNT,
        pair_presences__0=NO_COUNT,
        messages=([], [1], [1, 1, 1], 7, "11", ...),
        presences=([], [1], [1, 1, 1], 7, "11"),
        vocabulary=(-1, nan, "1"),
        pair_vocabulary=(-1, nan, "1"),
        generation=(-1, nan, "1"),
        cutoffs=([], [nan, nan], [-1.0, nan], ["a", "b"], [1.0], 7, [0.0, 1.0, nan], ...),
        calibration=([], [nan, 0.0], [inf, 0.0], [1.0], ["1", 0.0], ...),
        margin=(nan, "1", None),
        ham_loss=(nan, -1, 2, "0.1"),
        numbers__size=([], [[1, 1, 1]], 7, [[1, nan, 1], [1, 1, 1]], [[1, 1, 1], [1, 1, inf]]),
        numbers__size__1__0=(-1, nan, "1", 1e300),
        numbers=(...,),
        settings=(...,),
        settings__ngrams=(0, 6, -1, nan, "1", 10**9, True),
        settings__stop_words=(7, [7], None),
        view=(...,),
        view__event=(EVIL, None, 7, "gauss", []),
        view__smoothing=NO_RATE,
        view__least_evidence=NO_RATE,
        view__damping=NO_RATE,
        view__prior=(EVIL, 7, {}, {"ham": nan}, {"ham": -1.0, "spam": 2.0}, {"ham": "1"}),
        columns__0__2=(-8, nan, "8", 1 << 60),
        **{f"settings__{name}": (EVIL,) for name in "stem stop_language headers".split()},
        **{f"view__{name}": (nan, "x") for name in "pairs numbers tfidf split_head_body".split()},
        **{f"columns__{n}__0": NO_COLUMN for n in (0, 1, 4)},
        **{f"columns__{n}__1": NO_KIND for n in (0, 1, 3)},
    ),
    (("numbers", EVIL), [[1, 1, 1], [1, 1, 1]]),
]


@pytest.mark.parametrize(("places", "value"), HEADS, ids=lambda it: repr(it)[:40])
def test_a_forged_head_is_refused(tmp_path, places, value):
    made = sound_model()
    sound = Path(made).read_bytes()
    path = tmp_path / "model"
    path.write_bytes(forged_model(sound, places, value))
    if path.read_bytes() == sound:
        pytest.skip("that is what it says")
    for use in (
        Model.open,
        lambda it: learn(it, HAM + b"new\n", "ham"),
        lambda it: merge(made + ".sum", [it, made]),
    ):
        with pytest.raises(SpamnbError) as refused:
            use(str(path))
        assert "damaged" in str(refused.value) or "cut short" in str(refused.value)
    if places[0] not in ("settings", "view"):
        assert check(str(path)).damage


NO_NUMBER = (nan, "1", None)
RECORDS = any_of(
    digest=(-1, 1 << 64, *NO_NUMBER, ...),
    day=(-1, 65_536, *NO_NUMBER, ...),
    new_tokens=(10**6, -(10**6), *NO_NUMBER),
    new_pairs=(10**6, -(10**6), *NO_NUMBER),
    score=("1", None, [], ...),
    lead=("1", None, []),
    before=(EVIL, 7, [], "bills", ...),
    after=(EVIL, 7, [], "bills", ...),
    numbers=({"size": nan}, {"size": -1}, {"size": 1e300}, {EVIL: 1}, {"size": "1"}, [], 7, ...),
    text=(b"", b"\n", b"a", "text", None, ...),
    fingerprints=(b"1234567", b"12345678"),
    occurrences=(b"1234567", b"12345678"),
    pairs=(b"1234567",),
)


def forged_record(data: bytes, places: tuple[str], value: object) -> bytes:
    fields, _ = journal.record_at(data, 0)
    packed = forged_fields(fields, places, value) if value != 1 << 64 else b"\x80"
    return b"\x92\xce" + crc32(packed).to_bytes(4, "big") + b"\xc6" + len(packed).to_bytes(4, "big") + packed


@pytest.mark.parametrize(("places", "value"), RECORDS, ids=lambda it: repr(it)[:40])
def test_a_forged_record_is_skipped(tmp_path, capfd, places, value):
    made, path = sound_model(), tmp_path / "model"
    path.write_bytes(Path(made).read_bytes())
    Path(f"{path}.journal").write_bytes(forged_record(Path(f"{made}.journal").read_bytes(), places, value))
    stored = StoredModel.open(str(path))
    assert (stored.journal.records, len(stored.journal.damaged)) == ([], 1)
    assert Model(stored).classify(SPAM).label
    assert "skipped" in capfd.readouterr().err


HISTORY = any_of(
    time=(nan, inf, -1.0, 1e300, "1", None, ...),
    verdict=(EVIL, "", 7, None, b"spam", ...),
    score=(inf, *NO_NUMBER, ...),
    probability=(nan, 2.0, "1"),
    cutoffs=([], [nan, 1.0], ["a", "b"], 7, [1.0]),
    digest=(-1, 1.5, "1"),
    size=(-1, *NO_NUMBER),
    limits=([], [1], [-1, 1], ["a", "b"], None, 7, ...),
    model=("text", 7, None, ...),
    source=("text", 7, None),
    user=("text", 7, None),
    message=("text", 7, None, ...),
)


@pytest.mark.parametrize(("places", "value"), HISTORY, ids=lambda it: repr(it)[:40])
def test_a_forged_record_of_the_history_is_skipped(tmp_path, places, value):
    made = sound_model()
    verdict = Model.open(made).classify(SPAM)
    sound = log.packed_record(SPAM, verdict, made, "classify", "", time.time(), [90, 10**8])
    packed = forged_fields(log.sound_fields(sound), places, value)
    sizes = len(packed).to_bytes(4, "little") + crc32(packed).to_bytes(4, "little")
    (tmp_path / f"2026-11-16-000000{log.SUFFIX}").write_bytes(log.MARK + sizes + packed + sound)
    with History.open(str(tmp_path)) as history:
        assert history.gather() == 1
        assert [entry.verdict for entry in history.entries()] == [verdict.label]
