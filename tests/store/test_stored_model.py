"""The model file: what is written is read again, by msgpack alone too; damage never passes for a model."""

import math
import os
import pickle
import re
import stat
import struct
import tempfile
import time
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import msgpack
import numpy as np
import pytest
from helpers.generated import examples_times
from helpers.learning import train_bulk
from helpers.paths import ROOT
from helpers.simple_table import SimpleTable
from helpers.tables import assert_same, bulk, columns_of, fingerprint, saved
from helpers.textbook import pair_rows_of, rows_of
from hypothesis import given
from hypothesis import strategies as st

from spamnb.errors import ModelError
from spamnb.model import Model
from spamnb.reading.features import fingerprints_of
from spamnb.reading.identity import digest
from spamnb.reading.message import read
from spamnb.reading.settings import Settings
from spamnb.store.head import VERSION
from spamnb.store.stored_model import StoredModel
from spamnb.tables.loading import load_table
from spamnb.training import train as training
from spamnb.training.learn import learn
from spamnb.workers.local import LocalPool

PAGE = ROOT / "docs" / "model-file.md"
LUNCH = b"Subject: lunch\nTo: ann@example.org\n\nsee you at noon, bring the noon papers\n"
MONEY = b"Subject: money\n\nbuy now now now\n"
BOTH = [(LUNCH, "ham"), (MONEY, "spam")]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The bytes of a small model of two messages."""
    folder = tmp_path_factory.mktemp("sound")
    return Path(train_bulk(folder, BOTH)).read_bytes()


def put(folder, content):
    path = folder / "model"
    path.unlink(missing_ok=True)  # ext4 syncs a file that is truncated and written anew: 2 ms each
    path.write_bytes(content)
    return str(path)


def listed(rows):
    return {name: list(row) for name, row in rows.items()}


def whole(path):
    """All of a model, every checksum verified: what training starts from."""
    return load_table(StoredModel.open(path))


# Save, then load

labels = st.lists(st.text("abcdef", min_size=1, max_size=3), min_size=1, max_size=4, unique=True)
words = st.text(min_size=1, max_size=6).filter(lambda word: "\n" not in word)


@st.composite
def tables(draw):
    """A count table, and digests with labels and scores."""
    table = SimpleTable(draw(labels))
    for label in draw(st.lists(st.sampled_from(table.labels), max_size=6)):
        tokens = draw(st.dictionaries(words, st.integers(1, 2**20), max_size=5))
        pairs = draw(st.sets(st.tuples(words, words), max_size=3))
        table.learn(
            label,
            [(token, n, 0) for token, n in tokens.items()],
            draw(st.dictionaries(st.sampled_from("xyz"), st.integers(0, 999))),
            [(pair, 0) for pair in pairs],
        )
    places = st.integers(0, len(table.labels) - 1)
    scores = st.just(math.nan) | st.floats(-99, 99, width=32)
    return table, draw(st.dictionaries(st.integers(0, 2**64 - 1), st.tuples(places, scores), max_size=5))


@given(tables())
@examples_times(0.4)
def test_what_is_saved_is_loaded(made):
    table, learned = made
    before = columns_of(table, learned)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        saved(path, before)
        stored, after = StoredModel.open(path), whole(path)
    assert_same(after, before)
    assert listed(rows_of(stored, [*table.tokens, "no such token"])) == table.tokens
    assert stored.histogram() == table.histogram()
    assert stored.vocabulary == table.vocabulary
    assert (stored.presences, stored.occurrences) == (table.presences, table.occurrences)
    assert listed(pair_rows_of(stored, [*table.pairs, ("no", "pair")])) == table.pairs
    assert (stored.pair_presences, stored.pair_vocabulary) == (table.pair_presences, table.pair_vocabulary)
    assert {one: stored.label_of(one) for one in learned} == {
        one: table.labels[place] for one, (place, _) in learned.items()
    }
    texts = sorted(table.tokens, key=fingerprint)
    assert after.tokens(np.flatnonzero(after.words)) == texts
    assert set(after.tokens(np.flatnonzero(~after.words))) <= {""}


@pytest.mark.parametrize("top", [1, 255, 256, 65535, 65536, 2**31 - 1])
def test_every_width_of_count(tmp_path, top):
    path = str(tmp_path / "model")
    saved(path, bulk([("ham", {"word": top}), ("spam", {"word": 1, "other": 1})], ["ham", "spam"]))
    assert rows_of(StoredModel.open(path), ["word"])["word"] == (1, 1, top, 1)
    assert whole(path).occurrence_counts[0].max() == top
    width = {1: "B", 255: "B", 256: "H", 65535: "H"}.get(top, "I")
    assert StoredModel.open(path).column("tokens").kind == "Q" + 4 * width


# The page that describes it


def test_the_page_s_examples_run(tmp_path):
    path = train_bulk(tmp_path, BOTH)
    assert learn(path, b"Subject: more\n\nbuy more noon", "spam") == "learned"
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 2
    names: dict = {}
    for block in blocks:
        exec(block, names)
    counts, journal = names["counts"], names["journal"]
    assert counts(path, "now") == {"ham": (0, 0), "spam": (1, 3)}
    assert counts(path, "noon") == {"ham": (1, 2), "spam": (0, 0)}
    assert counts(path, "header:subject") == {"ham": (1, 1), "spam": (1, 1)}
    assert counts(path, "\U0010ffff") == counts(path, "more") == {"ham": (0, 0), "spam": (0, 0)}
    (record,) = journal(path, StoredModel.open(path).generation)
    assert record["after"] == "spam"
    assert b"more\n" in record["text"]
    assert journal(path, 1) == []
    with open(path + ".journal", "ab") as file:
        file.write(b"\x92\xce\0")
    assert journal(path, StoredModel.open(path).generation) == [record]


def test_the_page_names_every_key_and_column(tmp_path):
    path = train_bulk(tmp_path, BOTH)
    learn(path, b"Subject: more\n\nbuy more", "spam")
    text = PAGE.read_text()
    model = msgpack.unpackb(Path(path).read_bytes())
    with open(path + ".journal", "rb") as file:
        records = [msgpack.unpackb(packed) for _, packed in msgpack.Unpacker(file)]
    head = model["head"]
    names = {*model, *head, *head["settings"], *head["view"], *head["numbers"], "hour"}
    names = {re.sub(r"\.\d$", ".k", name) for name in names} | {*records[0]}
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []


def test_the_library_alone_reads_what_the_page_says(tmp_path):
    path = train_bulk(tmp_path, BOTH)
    content = Path(path).read_bytes()
    model = msgpack.unpackb(content)
    head = model["head"]
    names = [name for name, *_ in head["columns"]]
    assert list(model) == ["format", "version", "crc32", "head", *names]
    assert (model["format"], model["version"]) == ("spamnb", VERSION)
    packed = content[content.index(b"\xa4head") + 5 : content.index(b"\xa6starts\xc6")]
    assert msgpack.unpackb(packed) == head
    assert model["crc32"] == crc32(packed)
    assert head["settings"] == Settings().as_map()
    assert head["cutoffs"] == [-math.inf, math.inf]
    assert (head["labels"], head["messages"]) == (["ham", "spam"], [1, 1])
    assert head["numbers"]["recipients"] == [[1, 1, 1], [0, 0, 0]]
    rest = {key: value for key, value in head.items() if key != "generation"}
    generation = blake2b(msgpack.packb(rest), digest_size=8).digest()
    assert head["generation"] == int.from_bytes(generation, "little")

    column: dict[str, list] = {}
    for name, kind, size, checksum in head["columns"]:
        assert (len(model[name]), crc32(model[name])) == (size, checksum)
        records = list(struct.iter_unpack("<" + kind, model[name]))
        column[name] = [record[0] for record in records] if len(kind) == 1 else records
    starts = [0, *column["ends"]]
    tokens = [model["text"][start:end].decode() for start, end in zip(starts, column["ends"], strict=False)]
    fingerprints, rows = [row[0] for row in column["tokens"]], [row[1:] for row in column["tokens"]]
    assert fingerprints == sorted(set(fingerprints))
    assert len(tokens) == len(fingerprints) == head["vocabulary"]
    for token, number in zip(tokens, fingerprints, strict=True):
        expected = 0
        for eight in re.findall(rb"(?s).{1,8}", token.encode()):
            expected = (expected ^ int.from_bytes(eight, "little")) * 0x9E3779B97F4A7C15 % 2**64
            expected = (expected ^ expected >> 32) * 0x9E3779B97F4A7C15 % 2**64
        assert number == expected
    assert fingerprint("now") == 0x48DAA600DB3AE5BF
    assert "`0x48DAA600DB3AE5BF`" in PAGE.read_text()
    by_token = dict(zip(tokens, rows, strict=True))
    assert by_token["now"] == (0, 1, 0, 3)
    assert by_token["noon"] == (1, 0, 2, 0)
    assert by_token["header:subject"] == (1, 1, 1, 1)
    assert [*head["presences"], *head["occurrences"]] == [sum(counts) for counts in zip(*rows, strict=True)]
    messages = [row[:2] for row in rows]
    histogram = zip(column["histogram.0"], column["histogram.1"], column["histogram.tokens"], strict=True)
    assert sorted(histogram) == sorted((*both, messages.count(both)) for both in set(messages))
    assert all(abs(day - time.time() / 86400) < 2 for day in column["days"])
    pairs = {number: row for number, *row in column["pairs"]}
    assert list(pairs) == sorted(pairs)
    assert len(pairs) == len(column["pairs"]) == head["pair_vocabulary"]
    assert head["pair_presences"] == [sum(row[k] for row in pairs.values()) for k in (0, 1)]
    see, you, now = fingerprints_of(["see", "you", "now"])
    assert pairs[(see * 0xB5D3C96A1F84E27D + you) % 2**64] == [1, 0]
    assert pairs[(now * 0xB5D3C96A1F84E27D + now) % 2**64] == [0, 1]
    for name, of, numbers in (("starts", "tokens", fingerprints), ("pair_starts", "pairs", list(pairs))):
        bits = (len(column[name]) - 1).bit_length() - 1
        assert len(column[name]) == 2**bits + 1
        assert 8 <= len(numbers) / 2**bits <= 16
        firsts = [number >> (64 - bits) for number in numbers]
        starts = [start for start, _ in column[name]]
        assert starts == [sum(first < n for first in firsts) for n in range(2**bits + 1)]
        records, width = model[of], len(model[of]) // len(numbers)
        stretches = [records[a * width : b * width] for a, b in pairwise(starts)]
        checksums = [crc32(stretch) ^ i + 1 for i, stretch in enumerate(stretches)]
        assert [checksum for _, checksum in column[name]] == [*checksums, 0]
    learned = {digest(read(LUNCH)): 0, digest(read(MONEY)): 1}
    assert dict(zip(column["digests"], column["digest_labels"], strict=True)) == learned
    assert column["digests"] == sorted(learned)
    assert len(column["digest_scores"]) == 2


def test_the_digest_is_as_the_page_says():
    raw = b"From x Mon Jan  1 00:00:00 2024\r\nStatus: RO\r\n more\r\nSubject: a\r\n\r\nbody\r\n\r\n"
    lasting = blake2b(b"subject:a\n\nbody", digest_size=8).digest()
    assert digest(read(raw)) == int.from_bytes(lasting, "little")


# Damage


def regions(sound):
    """Which bytes are what: the front, the head, the columns, and what stands before each column."""
    head = msgpack.packb(msgpack.unpackb(sound)["head"])
    start = sound.index(head)
    found = {"front": [*range(start)], "head": [*range(start, start + len(head))], "columns": [], "names": []}
    at = start + len(head)
    for name, _, size, _ in msgpack.unpackb(sound)["head"]["columns"]:
        found["names"] += range(at, at + 6 + len(name))
        at += 6 + len(name)
        found["columns"] += range(at, at + size)
        at += size
    assert at == len(sound)
    return found


def flipped(content, bit):
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def outcome(act, *arguments):
    """What is raised, by name; what is returned is told apart by its type."""
    try:
        return f"no error, {type(act(*arguments)).__name__}"
    except Exception as error:
        return "ModelError" if type(error) is ModelError else f"{type(error).__name__}: {error}"


def test_cut_anywhere_or_longer_it_is_no_model(tmp_path, sound):
    wrong: dict[str, list] = {}
    for size in [*range(len(sound)), len(sound) + 1]:
        found = outcome(StoredModel.open, put(tmp_path, (sound + b"\0")[:size]))
        if found != "ModelError":
            wrong.setdefault(found, []).append(size)
    assert wrong == {}


@pytest.mark.parametrize("region", ["front", "head", "columns", "names"])
@pytest.mark.slow
def test_one_bit_wrong_is_found(tmp_path, sound, region):
    """Every bit of the first 300 bytes, and every fifth one after them."""
    wrong: dict[str, list] = {}
    for byte in regions(sound)[region]:
        for bit in range(8 * byte, 8 * byte + 8):
            if byte < 300 or bit % 5 == 0:
                found = outcome(whole, put(tmp_path, flipped(sound, bit)))
                if found != "ModelError":
                    wrong.setdefault(found, []).append((byte, bit % 8))
    assert wrong == {}


def packed(*items):
    return b"".join([bytes([0x80 + len(items)]), *(msgpack.packb(one) for item in items for one in item)])


FOREIGN = {
    "text": b"Dear model,\n\nhow are you?\n",
    "mbox": b"From ann@example.org Mon Jan  1 00:00:00 2024\n" + LUNCH,
    "pickle": pickle.dumps({"format": "spamnb", "counts": [1, 2, 3]}),
    "msgpack map": msgpack.packb({"name": "x", "size": 3, "rows": [1, 2], "more": None, "last": {}}),
    "short msgpack map": msgpack.packb({"format": "spamnb"}),
    "map with lists as keys": packed(([], 1), ([1], 2), ([2], 3), ([3], 4)),
    "deeply nested": b"\x84" + b"\x91" * 5000,
    "zeros": bytes(4096),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_foreign_file_is_refused_and_left_alone(tmp_path, what):
    path = put(tmp_path, FOREIGN[what])
    for act in (StoredModel.open, whole, lambda path: learn(path, MONEY, "spam"), train_money):
        with pytest.raises(ModelError, match=r"not a spamnb model.*(--model|--fresh)") as caught:
            act(path)
        assert str(caught.value).startswith(path)
        assert "\n" not in str(caught.value)
    assert Path(path).read_bytes() == FOREIGN[what]
    assert sorted(os.listdir(tmp_path)) == ["mail", "model"]


def train_money(path, **options):
    mail = Path(path).parent / "mail"
    mail.write_bytes(MONEY)
    return training.train(path, {"spam": [str(mail)]}, pool=LocalPool(1), **options)


def test_an_empty_file_is_not_an_empty_model(tmp_path):
    path = put(tmp_path, b"")
    with pytest.raises(ModelError, match=r"the file is empty; .*--fresh"):
        train_money(path)
    assert Path(path).read_bytes() == b""


def versioned(sound, version):
    content = sound.replace(b"version" + msgpack.packb(VERSION), b"version" + msgpack.packb(version), 1)
    assert content != sound
    return content


@pytest.mark.parametrize("version", [VERSION - 1, VERSION + 1])
def test_another_version_says_what_to_do_and_is_left_alone(spamnb, tmp_path, sound, version):
    content = versioned(sound, version)
    path = put(tmp_path, content)
    said = f"{'newer' if version > VERSION else 'older'} spamnb (format {version}); "
    said += "train again with --fresh"
    for act in (Model.open, train_money, lambda path: learn(path, MONEY, "ham")):
        with pytest.raises(ModelError, match=re.escape(said)):
            act(path)
    for command in (["classify", "-p"], ["train", "--spam", "-"], ["inspect"]):
        spamnb(*command, "--model", path, stdin=MONEY).fails(65, said)
    assert Path(path).read_bytes() == content


@pytest.mark.parametrize("bit", [3, 8 * 400, -4, None])
def test_a_damaged_model_is_left_alone_and_replaced_when_asked(spamnb, tmp_path, sound, bit):
    content = sound[:-1] if bit is None else flipped(sound, bit % (8 * len(sound)))
    path = put(tmp_path, content)
    with pytest.raises(ModelError, match="--fresh"):
        train_money(path)
    for command in (["classify"], ["train", "--spam", "-"], ["inspect"]) if bit is None else ():
        spamnb(*command, "--model", path, stdin=MONEY).fails(65, "cut short", "--fresh")
    assert Path(path).read_bytes() == content
    train_money(path, fresh=True)
    assert StoredModel.open(path).messages == [0, 1]


# On disk


def test_only_the_owner_reads_it(tmp_path):
    folder = tmp_path / "new" / "folders"
    path = str(folder / "model")
    before = os.umask(0)
    try:
        training.create(path, "spam")
        learn(path, MONEY, "spam")
    finally:
        os.umask(before)
    modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in os.scandir(folder)}
    assert modes == dict.fromkeys(("model", "model.journal", "model.lock", "model.training"), 0o600)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "name", ["model.new", "model.journal", "model.journal.new", "model.lock", "model.training"]
)
def test_a_planted_link_is_not_followed(tmp_path, name):
    path = str(tmp_path / "model")
    training.create(path, "spam")
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / name).symlink_to(victim)
    for act in (lambda: learn(path, MONEY, "spam"), lambda: train_money(path)):
        outcome(act)
    assert victim.read_bytes() == b"precious"


def test_what_was_opened_stays_whole_when_it_is_replaced(tmp_path):
    path = train_bulk(tmp_path, BOTH)
    before = StoredModel.open(path)
    learn(path, b"Subject: other\n\nnow", "ham")
    training.train(path, {"ham": [f"{path}.000"]}, forget=True, pool=LocalPool(1))
    assert rows_of(before, ["now", "noon"]) == {"now": (0, 1, 0, 3), "noon": (1, 0, 2, 0)}
    assert rows_of(StoredModel.open(path), ["now", "noon"]) == {"now": (1, 1, 1, 3)}
