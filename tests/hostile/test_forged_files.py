"""What somebody wrote into a file on purpose, its checksums made anew, is refused as damage is."""

import json
import time
from binascii import crc32
from math import inf, nan
from pathlib import Path
from typing import Any

import msgpack
import pytest
from fuzz.sealing import sealed_backup

from spamnb.configuration import current
from spamnb.configuration.compiling import compile_files
from spamnb.delivery import history_log
from spamnb.errors import SpamnbError
from spamnb.exchange.backup import exported
from spamnb.exchange.merging import merge
from spamnb.history.database import History
from spamnb.inspection.check import check
from spamnb.labels import is_label
from spamnb.model import Model
from spamnb.store import journal
from spamnb.store.stored_model import StoredModel
from spamnb.tables.learned import LearnedMessages
from spamnb.tables.loading import load_table
from spamnb.training.learn import learn
from spamnb.training.train import train
from spamnb.workers.local import LocalPool

HAM = b"From: ann@example.org\nSubject: notes\n\nagenda for tuesday, thanks\n"
SPAM = b"From: win@casino.example\nSubject: pills\n\nbuy now, casino http://casino.example/\n"
EVIL = "spam\nX-Evil: 1"
NO_LABELS = (EVIL, "", "unsure", "UNSURE", "a\rb", "a\x1b[2Jb", "a\u202eb", "a\0b", "x" * 101)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small model, and a message in its journal."""
    folder = tmp_path_factory.mktemp("made")
    for label, raw in (("ham", HAM), ("spam", SPAM)):
        (folder / label).mkdir()
        for n in range(12):
            (folder / label / str(n)).write_bytes(raw + b"%d\n" % n)
    path = str(folder / "model")
    train(path, {label: [str(folder / label)] for label in ("ham", "spam")}, pool=LocalPool(1))
    learn(path, HAM + b"more\n", "ham")
    return path


def forged_head(data: bytes, places: tuple, value: object) -> bytes:
    """Put another value into the head of a model, or take it out (`Ellipsis`); make its checksum anew."""
    unpacker = msgpack.Unpacker(strict_map_key=False, max_buffer_size=1 << 30)
    unpacker.feed(data)
    entries = unpacker.read_map_header()
    front = {unpacker.unpack(): unpacker.unpack() for _ in range(4)}
    rest = data[unpacker.tell() :]
    *outer, last = places
    inner = front["head"]
    for place in outer:
        inner = inner[place]
    if value is Ellipsis:
        del inner[last]
    else:
        inner[last] = value
    front["crc32"] = crc32(msgpack.packb(front["head"]))
    packed = b"".join(msgpack.packb(item) for pair in front.items() for item in pair)
    return msgpack.Packer().pack_map_header(entries) + packed + rest


def any_of(*values: Any) -> Any:
    return values


HEADS: list[Any] = [
    *((("labels", 1), name) for name in (*NO_LABELS, "ham", 7, None, b"spam", ["spam"])),
    *(
        (("labels",), value)
        for value in any_of([], ["ham"], ["ham", "spam", "bills"], "hs", {"ham": 1, "spam": 2}, 7)
    ),
    *(
        ((name, 0), value)
        for name in ("messages", "presences", "occurrences", "pair_presences")
        for value in any_of(-1, nan, 1.5, "1", None, True)
    ),
    *(
        ((name,), value)
        for name in ("messages", "presences")
        for value in any_of([], [1], [1, 1, 1], 7, "11")
    ),
    *(
        ((name,), value)
        for name in ("vocabulary", "pair_vocabulary", "generation")
        for value in any_of(-1, nan, "1")
    ),
    *(
        (("cutoffs",), value)
        for value in any_of([], [nan, nan], [-1.0, nan], ["a", "b"], [1.0], 7, [0.0, 1.0, nan])
    ),
    *((("calibration",), value) for value in any_of([], [nan, 0.0], [inf, 0.0], [1.0], ["1", 0.0])),
    *((("margin",), value) for value in any_of(nan, "1", None)),
    *((("ham_loss",), value) for value in any_of(nan, -1, 2, "0.1")),
    *((("numbers", "size"), value) for value in any_of([], [[1, 1, 1]], 7, [[1, nan, 1], [1, 1, 1]])),
    *((("numbers", "size"), [[1, 1, 1], [value, 1, 1]]) for value in any_of(-1, nan, "1", 1e300)),
    (("numbers", "size"), [[1, 1, 1], [1, 1, inf]]),
    (("numbers", EVIL), [[1, 1, 1], [1, 1, 1]]),
    *((("settings", "ngrams"), value) for value in any_of(0, 6, -1, nan, "1", 10**9, True)),
    *((("settings", name), EVIL) for name in ("stem", "stop_language", "headers", "closed", "keep_case")),
    *((("settings", name), value) for name in ("keyed", "revision") for value in any_of(nan, [], None)),
    *((("settings", "stop_words"), value) for value in any_of(7, [7], None)),
    *((("view", "event"), value) for value in any_of(EVIL, None, 7, "gauss", [])),
    *(
        (("view", name), value)
        for name in ("smoothing", "least_evidence", "damping")
        for value in any_of(nan, inf, -1.0, "x", [1.0])
    ),
    *(
        (("view", "prior"), value)
        for value in any_of(EVIL, 7, {}, {"ham": nan}, {"ham": -1.0, "spam": 2.0}, {"ham": "1"})
    ),
    *(
        (("view", name), value)
        for name in ("pairs", "numbers", "tfidf", "split_head_body")
        for value in any_of(nan, "x")
    ),
    *(
        ((name,), Ellipsis)
        for name in ("labels", "messages", "cutoffs", "calibration", "numbers", "view", "settings")
    ),
    *((("columns", 0, 2), value) for value in any_of(-8, nan, "8", 1 << 60)),
    *((("columns", n, 0), value) for n in (0, 1, 5) for value in any_of(EVIL, "tokens", 7, None)),
    *(
        (("columns", n, 1), value)
        for n in (0, 1, 3, 4, 6, 12)
        for value in any_of("QB", "B", "I", "f", "x", "", 7)
    ),
]


@pytest.mark.parametrize(("places", "value"), HEADS, ids=lambda it: repr(it)[:40])
def test_a_forged_head_is_refused(made, tmp_path, places, value):
    sound = Path(made).read_bytes()
    path = tmp_path / "model"
    path.write_bytes(forged_head(sound, places, value))
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


def test_a_forged_label_reaches_no_header(spamnb, made, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(forged_head(Path(made).read_bytes(), ("labels", 1), EVIL))
    said = spamnb("classify", "-p", "--model", path, stdin=SPAM)
    assert (said.code, said.out) == (65, b"")
    assert said.err.count(b"\n") == 1


RECORDS: list[Any] = [
    *(("digest", value) for value in any_of(-1, 1 << 64, nan, "1", None)),
    *(("day", value) for value in any_of(-1, 65_536, nan, "1", None)),
    *(
        (name, value)
        for name in ("new_tokens", "new_pairs")
        for value in any_of(10**6, -(10**6), nan, "1", None)
    ),
    *((name, value) for name in ("score", "lead") for value in any_of("1", None, [])),
    *((name, value) for name in ("before", "after") for value in any_of(EVIL, 7, [], "bills")),
    *(
        ("numbers", value)
        for value in any_of({"size": nan}, {"size": -1}, {"size": 1e300}, {EVIL: 1}, {"size": "1"}, [], 7)
    ),
    *(("text", value) for value in any_of(b"", b"\n", b"a", "text", None)),
    *((name, b"1234567") for name in ("fingerprints", "occurrences", "pairs")),
    *((name, b"12345678") for name in ("fingerprints", "occurrences")),
    *((name, Ellipsis) for name in ("digest", "before", "after", "day", "text", "score", "numbers")),
]


def forged_record(data: bytes, name: str, value: object) -> bytes:
    fields, _ = journal.record_at(data, 0)
    assert fields
    fields = {key: bytes(old) if isinstance(old, memoryview) else old for key, old in fields.items()}
    if value is Ellipsis:
        del fields[name]
    else:
        fields[name] = value
    packed = msgpack.packb(fields) if not isinstance(value, int) or value < 1 << 64 else b"\x80"
    return msgpack.packb([crc32(packed), packed])


@pytest.mark.parametrize(("name", "value"), RECORDS, ids=lambda it: repr(it)[:40])
def test_a_forged_record_is_passed_over(made, tmp_path, capfd, name, value):
    path = tmp_path / "model"
    path.write_bytes(Path(made).read_bytes())
    Path(f"{path}.journal").write_bytes(forged_record(Path(f"{made}.journal").read_bytes(), name, value))
    stored = StoredModel.open(str(path))
    assert (stored.journal.records, len(stored.journal.damaged)) == ([], 1)
    assert Model(stored).classify(SPAM).label
    assert "passed over" in capfd.readouterr().err


def test_what_is_forgotten_more_often_than_learned_counts_as_nothing(made, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(Path(made).read_bytes())
    one = Path(f"{made}.journal").read_bytes()
    fields, _ = journal.record_at(one, 0)
    assert fields
    gone = {**{key: bytes(old) if isinstance(old, memoryview) else old for key, old in fields.items()}}
    gone |= {"before": "ham", "after": None, "new_tokens": -len(fields["fingerprints"]) // 8}
    Path(f"{path}.journal").write_bytes(journal.sealed(gone) * 40)
    model = Model.open(path)
    assert (model.stored.messages[0], model.stored.vocabulary >= 0) == (0, True)
    assert model.classify(SPAM).label
    assert min(load_table(model.stored).clipped().messages) >= 0


def backup_with(made: str, **head: object) -> bytes:
    first, about, *rest = exported(made)
    return sealed_backup("\n".join([first, json.dumps({**json.loads(about), **head}), *rest]).encode())


@pytest.mark.parametrize(
    "head",
    [
        *({"labels": ["ham", name]} for name in (*NO_LABELS, 7, None)),
        *({"messages": [1, value]} for value in any_of(-1, nan, "1", 1.5, None)),
        *({"cutoffs": value} for value in any_of([nan, nan], ["a", "b"], None)),
        *({"settings": value} for value in any_of({}, None, 7)),
    ],
    ids=lambda head: repr(head)[:40],
)
def test_a_forged_backup_is_refused(spamnb, made, tmp_path, head):
    backup = tmp_path / "backup"
    backup.write_bytes(backup_with(made, **head))
    said = spamnb("import", "--model", tmp_path / "model", backup)
    assert (said.code, said.err.count(b"\n")) == (65, 1), said.err
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("line", "forged"),
    [
        *(
            ("t\t", ("t", *fields, "word"))
            for fields in (("70000", "1", "1", "1", "1", "1"), ("1", "1", "-1", "1", "1", "1"))
        ),
        ("t\t", ("t", "1", "1", str(1 << 63), "1", "1", "1", "word")),
        ("m\t", ("m", "0" * 16, "-1", "nan")),
        ("m\t", ("m", "0" * 16, "2", "nan")),
    ],
)
def test_forged_counts_in_a_backup_are_refused(spamnb, made, tmp_path, line, forged):
    lines = list(exported(made))
    place = next(n for n, old in enumerate(lines) if old.startswith(line))
    lines[place] = "\t".join(forged)
    backup = tmp_path / "backup"
    backup.write_bytes(sealed_backup("\n".join(lines).encode()))
    assert spamnb("import", "--model", tmp_path / "model", backup).code == 65


def test_counts_beyond_32_bits_come_back(spamnb, made, tmp_path):
    lines = list(exported(made))
    place = next(n for n, old in enumerate(lines) if old.startswith("t\t"))
    *fields, token = lines[place].split("\t")
    fields[-1] = str(1 << 40)
    lines[place] = "\t".join((*fields, token))
    backup = tmp_path / "backup"
    backup.write_bytes(sealed_backup("\n".join(lines).encode()))
    spamnb("import", "--model", tmp_path / "model", backup).succeeds()
    assert lines[place] in list(exported(str(tmp_path / "model")))


def test_labels_of_messages_that_there_are_not(made, tmp_path):
    stored = StoredModel.open(made)
    data, at = bytearray(Path(made).read_bytes()), stored.column("digest_labels").at
    for index in (2, 99, 255):
        data[at] = index
        path = tmp_path / "model"
        size = stored.column("digest_labels").size
        number = [name for name, *_ in stored.head["columns"]].index("digest_labels")
        path.write_bytes(forged_head(bytes(data), ("columns", number, 3), crc32(data[at : at + size])))
        forged = StoredModel.open(str(path))
        for load in (load_table, LearnedMessages.load):
            with pytest.raises(SpamnbError, match="labels are damaged"):
                load(forged)


HISTORY: list[Any] = [
    *(("time", value) for value in any_of(nan, inf, -1.0, 1e300, "1", None)),
    *(("verdict", value) for value in any_of(EVIL, "", 7, None, b"spam")),
    *(("score", value) for value in any_of(nan, inf, "1", None)),
    *(("probability", value) for value in any_of(nan, 2.0, "1")),
    *(("cutoffs", value) for value in any_of([], [nan, 1.0], ["a", "b"], 7, [1.0])),
    *(("digest", value) for value in any_of(-1, 1.5, "1")),
    *(("size", value) for value in any_of(-1, nan, "1", None)),
    *(("limits", value) for value in any_of([], [1], [-1, 1], ["a", "b"], None, 7)),
    *((name, value) for name in ("model", "source", "user", "message") for value in any_of("text", 7, None)),
    *((name, Ellipsis) for name in ("time", "verdict", "score", "limits", "message", "model")),
]


@pytest.mark.parametrize(("name", "value"), HISTORY, ids=lambda it: repr(it)[:40])
def test_a_forged_record_of_the_history_is_passed_over(made, tmp_path, name, value):
    verdict = Model.open(made).classify(SPAM)
    sound = history_log.packed_record(SPAM, verdict, made, "classify", "", time.time(), [90, 10**8])
    fields = history_log.sound_fields(sound)
    assert fields
    fields = {key: bytes(old) if isinstance(old, memoryview) else old for key, old in fields.items()}
    if value is Ellipsis:
        del fields[name]
    else:
        fields[name] = value
    packed = msgpack.packb(fields)
    sizes = len(packed).to_bytes(4, "little") + crc32(packed).to_bytes(4, "little")
    (tmp_path / f"2026-11-16-000000{history_log.SUFFIX}").write_bytes(
        history_log.MARK + sizes + packed + sound
    )
    with History.open(str(tmp_path)) as history:
        assert history.gather() == 1
        assert [entry.verdict for entry in history.entries()] == [verdict.label]


@pytest.mark.parametrize(
    ("name", "value"),
    [("header", EVIL), ("header", 7), ("subject_tag", EVIL), ("syslog", None), ("history", []), (EVIL, 1)],
)
def test_a_forged_cache_is_made_anew(monkeypatch, tmp_path, name, value):
    for variable in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setattr("spamnb.configuration.compiling.SETTLED", 0)
    (tmp_path / "spamnb").mkdir()
    (tmp_path / "spamnb" / "spamnb.toml").write_text('header = "X-Spam-Mine"\n')
    compile_files()
    path = Path(current.cache_path() or "")
    data = path.read_bytes()
    head = msgpack.unpackb(data[current.HEAD :])
    head["values"][name] = value
    packed = msgpack.packb(head)
    numbers = (current.HEAD + len(packed), len(packed), crc32(packed))
    path.write_bytes(b"".join(number.to_bytes(4, "little") for number in numbers) + packed)
    assert current.read_cache(str(path), current.stamps()) is None
    assert current.load()["header"] == "X-Spam-Mine"


@pytest.mark.parametrize("name", ["ham", "spam", "Rechnungen März", "a;b", "x" * 100])
def test_what_may_be_a_label(name):
    assert is_label(name)


@pytest.mark.parametrize("name", [*NO_LABELS, None, 7, b"ham"])
def test_what_may_not(name):
    assert not is_label(name)
