"""`spamnb check`: all that is damaged is said, and a sound model is called so."""

import os
from pathlib import Path

import pytest
from fuzz.sealing import sealed_model
from helpers.failing import failed, failing
from helpers.forging import flip, forged_model
from helpers.learning import train_bulk
from helpers.programs import needs
from helpers.screens import on_a_terminal
from helpers.tiers import LONG

from spamnb.bayes.view import View
from spamnb.errors import WHAT_TO_DO, ModelError
from spamnb.inspection.check import check
from spamnb.model import Model
from spamnb.reading.message import read
from spamnb.serve.open_models import SharedModel
from spamnb.store.stored_model import StoredModel
from spamnb.training import train as training
from spamnb.training.learn import learn
from spamnb.workers.local import LocalPool

KEYS = "path size columns tokens pairs messages journal journal_size aside damage".split()


def lines(done):
    """What is damaged, a line each."""
    assert (done.code, done.out) == (65, b"")
    said = done.err.decode().splitlines()
    assert all(line.startswith("spamnb: ") for line in said)
    return said


# Sound


def test_a_sound_model(spamnb, own):
    done = spamnb("check", own).succeeds()
    stored = StoredModel.open(own)
    assert done.lines == [
        f"{own}: sound",
        f" tokens      {stored.vocabulary:,}",
        f" word pairs  {stored.pair_vocabulary:,}",
        " messages    28",
        " journal     0 messages, 0 bytes",
        f" size        {os.path.getsize(own):,} bytes in {len(stored.head['columns'])} columns",
    ]


def test_as_json_with_a_journal(spamnb, own):
    spamnb("train", "--spam", "-", "--model", own, stdin=b"Subject: one\n\nmore").succeeds()
    found = spamnb("check", "--json", own).succeeds().json
    assert list(found) == KEYS
    assert (found["messages"], found["journal"], found["damage"]) == (28, 1, [])
    assert found["journal_size"] == os.path.getsize(own + ".journal")


BOGOFILTER = b".MSG_COUNT 40 60 20260101\nviagra 30 0 20260101\nsubj:meeting 0 40 20260101\n"


def made(spamnb, mail, folder, how):
    """Models of every kind."""
    path = str(folder / "made.msgpack")
    (folder / "words").write_bytes(BOGOFILTER)
    trained = ("train", "--jobs", "1", mail.ham, mail.spam)
    commands: dict[str, list[tuple]] = {
        "empty": [("train", "--spam", "-"), ("forget", "-")],
        "three": [("train", "--ham", mail.ham, "--spam", mail.spam, "--label", f"work={mail.work}")],
        "one": [("train", "--label", f"work={mail.work}")],
        "imported": [("import", str(folder / "words")), ("train", "--ham", "-")],
        "imported and trained": [("import", str(folder / "words")), trained],
        "pruned": [trained, ("prune", "--older-than", "0", "--rarer-than", "9")],
        "forgotten": [trained, ("forget", mail.ham, mail.spam)],
        "n-grams": [("train", "--settings", "word-runs=3", *trained[1:])],
    }
    for command in commands[how]:
        spamnb(*command, "--model", path, stdin=b"Subject: meeting\n\nviagra").succeeds()
    return path


@pytest.mark.parametrize(
    "how",
    "empty,three,one,imported,imported and trained,pruned,forgotten,n-grams".split(","),
)
def test_every_kind_of_model_is_sound(spamnb, mail, tmp_path, how):
    path = made(spamnb, mail, tmp_path, how)
    found = spamnb("check", "--json", path).succeeds().json
    assert found["damage"] == []
    assert found["tokens"] == len(StoredModel.open(path).column("tokens"))


def test_a_model_of_many_blocks(own, monkeypatch):
    """Which are read as one."""
    for size in (1, 2, 7, 100):
        monkeypatch.setattr("spamnb.tables.vocabulary.BLOCK_SIZE", size)
        monkeypatch.setattr("spamnb.inspection.check.STRETCHES_AT_ONCE", size)
        assert check(own).damage == []


def test_progress_on_a_terminal(spamnb, own):
    screen, code = on_a_terminal(spamnb, "check", own, patience=-1)
    assert code == 0
    assert "checking" in screen
    assert "entries" in screen
    assert "sound" in screen


# Damaged


def columns_of(path):
    stored = StoredModel.open(path)
    return {name: stored.column(name) for name, *_ in stored.head["columns"]}


def test_a_bit_wrong_in_any_column(own):
    learn(own, b"Subject: one\n\nmore", "spam")
    for name, column in columns_of(own).items():
        for at in {column.at, column.at + column.size // 2, column.at + column.size - 1}:
            flip(own, at)
            assert check(own).damage == [f"its column {name} is damaged; {WHAT_TO_DO}"], (
                name,
                at - column.at,
            )
            flip(own, at)
        for at in (column.at - 1, column.at - 5, column.at - 6):  # its length, its kind, its name
            flip(own, at)
            assert check(own).damage == [f"the name of its column {name} is damaged; {WHAT_TO_DO}"]
            flip(own, at)
    assert check(own).damage == []


def test_any_bit_wrong_and_any_cut_is_found(tmp_path):
    """Of the front every bit, of the rest some."""
    path = train_bulk(tmp_path, [(b"Subject: tea\n\nat noon", "ham"), (b"Subject: pills\n\nbuy now", "spam")])
    whole = Path(path).read_bytes()
    for at in range(len(whole)):
        for bit in range(8) if LONG or at < 60 else [at % 8] if at % 5 == 0 else []:
            flip(path, at, 1 << bit)
            assert len(check(path).damage) == 1, (at, bit)
            flip(path, at, 1 << bit)
    assert check(path).damage == []
    for size in [len(whole) - 1, *reversed(range(0, len(whole), 1 if LONG else 13))]:
        os.truncate(path, size)
        assert len(check(path).damage) == 1, size


LOOKED_UP = ("starts", "tokens", "pair_starts", "pairs")  # where a delivery reads what it needs
GRAMS = ("gram_counters", "grams")
# What is done with a model, and which columns it reads whole.
USES = {
    "training": (lambda path, ham: training.train(path, {"spam": [ham]}, pool=LocalPool(1)), lambda _: True),
    "a server": (
        lambda path, ham: judged_in_memory(path, ham),
        lambda name: name in ("tokens", "pairs", *GRAMS),
    ),
    "a lesson": (
        lambda path, ham: learn(path, ham, "ham"),
        lambda name: name in ("digests", "digest_labels", *GRAMS),
    ),
    "absent words": (
        lambda path, ham: Model.open(path, View("bernoulli")).classify(ham).score,
        lambda name: name.startswith("histogram"),
    ),
}


def judged_in_memory(path, raw):
    model = SharedModel(path).current()
    return model.verdict(model.features(read(raw))).score


@pytest.mark.parametrize("how", USES)
def test_who_reads_a_column_whole_verifies_it(own, mail, how):
    """Others are of no concern. Where there is an error, nothing is written."""
    use, reads = USES[how]
    content, ham = Path(own).read_bytes(), mail.work if how == "training" else mail.messages["ham"]
    expected = None if how == "training" else use(own, ham)
    for name, column in columns_of(own).items():
        Path(own + ".journal").unlink(missing_ok=True)
        flip(own, column.at + column.size // 2)
        if reads(name):
            with pytest.raises(ModelError, match=f"its column {name} is damaged"):
                use(own, ham)
            assert not os.path.exists(own + ".journal")
        elif name not in LOOKED_UP:
            assert use(own, ham) == expected
        flip(own, column.at + column.size // 2)
        assert Path(own).read_bytes() == content


def test_all_of_it_is_said(spamnb, own):
    """A line for each, not only the first; and of the journal, too, with the days that it is about."""
    for number in range(3):
        learn(own, b"Subject: lesson %d\n\nwords" % number, "spam")
        if number == 0:
            first = os.path.getsize(own + ".journal")
        if number == 1:
            end = os.path.getsize(own + ".journal")
    days = sorted({entry.day for entry in StoredModel.open(own).journal.records})
    assert len(days) <= 2
    columns = columns_of(own)
    for name in ("tokens", "text", "digests"):
        flip(own, columns[name].at + 3)
    flip(own + ".journal", first + 40)
    said = lines(spamnb("check", own))
    what = [line.removeprefix(f"spamnb: {own}: ").partition(";")[0] for line in said]
    assert what[:-1] == [f"its column {name} is damaged" for name in ("tokens", "text", "digests")]
    assert what[-1].startswith(f"its journal is damaged at bytes {first}-{end - 1}, lessons from 20")
    assert " to 20" in what[-1]
    assert said[-1].endswith("; learn the messages of that time again")
    done = spamnb("check", "--json", own)
    assert (done.code, done.err) == (65, b"")
    assert [f"spamnb: {own}: {one}" for one in done.json["damage"]] == said


def test_a_damaged_head_and_the_journal(spamnb, own):
    learn(own, b"Subject: lesson\n\nwords", "spam")
    flip(own, 300)
    flip(own + ".journal", 50)
    head, journal = lines(spamnb("check", own))
    assert "its head is damaged" in head
    assert "its journal is damaged at bytes 0-" in journal


def test_what_is_no_model(spamnb, tmp_path):
    spamnb("check", tmp_path / "none").fails(75, "spamnb train")
    spamnb("check", tmp_path).fails(66, "a folder", "--model")
    (tmp_path / "text").write_text("Dear model,\n")
    spamnb("check", tmp_path / "text").fails(65, "not a spamnb model", "--model")


def test_a_journal_that_was_put_aside_is_named(spamnb, own):
    Path(own + ".journal.damaged").write_bytes(b"x")
    done = spamnb("check", own).succeeds()
    assert done.lines[-1].startswith(f" aside       {own}.journal.damaged: an earlier, damaged journal")


@pytest.mark.slow
@needs("strace")
def test_what_cannot_be_read_is_said_and_the_rest_is_looked_at(spamnb, own, tmp_path):
    """A bad block of a disk: the read of it fails."""
    log = tmp_path / "log"
    tracer = failing(log, "pread64", "EIO", own, when="4..5")
    said = lines(spamnb.run([*tracer, spamnb.program, "check", own]))
    assert len(failed(log)) == 2
    assert len(said) == 2
    assert all("cannot be read: " in line and "Input/output error" in line for line in said)


# Sound checksums, and senseless all the same


def reforged(path, change):
    """Change a model, and put its checksums right."""
    data = bytearray(Path(path).read_bytes())
    change(data)
    Path(path).write_bytes(sealed_model(bytes(data)))


def entry(column, place):
    at = column.at + place % len(column) * column.width
    return slice(at, at + column.width)


def swapped(data, column, one, other):
    first, second = entry(column, one), entry(column, other)
    data[first], data[second] = data[second], data[first]


def copied(data, column, one, other):
    data[entry(column, other)] = data[entry(column, one)]


def written(data, column, place, value):
    data[entry(column, place)] = value.to_bytes(column.width, "little")


def wrong_checksum(data, directory, place):
    """Of the stretch that an entry leads to."""
    data[entry(directory, place).start + 4] ^= 1


def relabelled(data, column, place):
    data[column.at + place] = 1 - data[column.at + place]


def one_less(data, column, place):
    written(data, column, place, int.from_bytes(data[entry(column, place)], "little") - 1)


# What is said, and what was done to which column: places from the end count back.
CONTENT = [
    ("its tokens are not in order", swapped, "tokens", 3, 4),
    ("its tokens are not in order", copied, "tokens", 3, 4),
    ("its tokens do not add up to what its head says", written, "tokens", 5, 0xFF << 64),
    ("its pairs are not in order", swapped, "pairs", 0, 1),
    ("its starts do not lead to its tokens", written, "starts", 1, 3),
    ("its starts do not lead to its tokens", wrong_checksum, "starts", 0),
    ("its pair_starts do not lead to its pairs", written, "pair_starts", -1, 1),
    ("its pair_starts do not lead to its pairs", wrong_checksum, "pair_starts", -2),
    ("its ends are not in order", swapped, "ends", 1, 5),
    ("its ends are not in order", written, "ends", -1, 65_000),
    ("its ends do not end where its text does", one_less, "ends", -1),
    ("its text is not UTF-8", written, "text", 7, 0xFF),
    ("its histogram.tokens is not that of its tokens", swapped, "histogram.tokens", 0, 1),
    ("its histogram.tokens is not that of its tokens", written, "histogram.1", 2, 77),
    ("its digests are not in order", swapped, "digests", 8, 9),
    ("its digests are not in order", copied, "digests", 8, 9),
    ("its digest_labels are of no label", written, "digest_labels", 2, 9),
    ("its digest_labels are more than its head says", relabelled, "digest_labels", 2),
]


@pytest.mark.parametrize("case", CONTENT, ids=lambda case: f"{case[1].__name__} {case[2]}")
def test_content_that_cannot_be(spamnb, own, monkeypatch, case):
    """The same is said, whatever blocks it is read in."""
    said, change, name, *arguments = case
    column = columns_of(own)[name]
    reforged(own, lambda data: change(data, column, *arguments))
    found = lines(spamnb("check", own))
    assert f"spamnb: {own}: {said}; {WHAT_TO_DO}" in found
    assert all("damaged" not in line for line in found)
    for size in (1, 5):
        monkeypatch.setattr("spamnb.tables.vocabulary.BLOCK_SIZE", size)
        monkeypatch.setattr("spamnb.inspection.check.STRETCHES_AT_ONCE", size)
        assert [f"spamnb: {own}: {line}" for line in check(own).damage] == found


def test_a_token_that_ends_within_a_character(spamnb, own, tmp_path):
    folder = tmp_path / "mail"  # the only message of a file would go to the journal
    folder.mkdir()
    (folder / "1").write_bytes("Subject: x\n\nпривет привет\n".encode())
    spamnb("train", "--jobs", "1", "--ham", folder, "--model", own).succeeds()
    columns = columns_of(own)
    text = columns["text"].read()
    ends = columns["ends"].values().tolist()
    at = text.index("привет".encode())
    place = ends.index(at + len("привет".encode()))
    reforged(own, lambda data: written(data, columns["ends"], place, at + 3))
    (said,) = lines(spamnb("check", own))
    assert "its text is not UTF-8" in said


def less(value):
    return [value[0] - 1, *value[1:]] if isinstance(value, list) else value - 1


def more_links(numbers):
    (ham, *sums), *others = numbers["links"]
    return numbers | {"links": [[ham + 1, *sums], *others]}


def narrower(name):
    """Smaller numbers, read out of the same bytes."""
    return lambda columns: [[one, "B" if one == name else kind, *rest] for one, kind, *rest in columns]


def without_first_days(columns):
    return [[name.replace("first_days", "other_days"), *rest] for name, *rest in columns]


HEADS = [
    ("ends are not as many as its tokens", "columns", narrower("ends")),
    ("days are not as many as its tokens", "columns", narrower("days")),
    ("first_days are not as many as its tokens", "columns", narrower("first_days")),
    ("first_days are not as many as its tokens", "columns", without_first_days),
    ("pair_days are not as many as its pairs", "columns", narrower("pair_days")),
    ("digest_scores are not as many as its digests", "columns", narrower("digest_scores")),
    ("digest_labels are not as many as its digests", "columns", narrower("digests")),
    ("digest_labels are more than its head says", "messages", less),
    ("tokens do not add up to what its head says", "presences", less),
    ("tokens do not add up to what its head says", "occurrences", less),
    ("tokens are not as many as its head says", "vocabulary", less),
    ("pairs do not add up to what its head says", "pair_presences", less),
    ("pairs are not as many as its head says", "pair_vocabulary", less),
    ("feature links is of more messages than there are", "numbers", more_links),
]


@pytest.mark.parametrize(("said", "key", "change"), HEADS)
def test_a_head_that_tells_something_else(own, said, key, change):
    head = StoredModel.open(own).head
    Path(own).write_bytes(forged_model(Path(own).read_bytes(), (key,), change(head[key])))
    found = check(own).damage
    assert f"its {said}; {WHAT_TO_DO}" in found
    if key != "columns":  # of which others lie elsewhere then
        assert [line for line in found if key == "numbers" or "feature" not in line] == [
            f"its {said}; {WHAT_TO_DO}"
        ]
