"""Models that keep no words: the same verdicts, by numbers that only a key can tell again."""

import os
import pickle
import re
import shutil
import stat
from hashlib import blake2b
from pathlib import Path

import pytest
from helpers.learning import fold
from helpers.tables import grams_of

from spamnb.key import Key
from spamnb.model import Model
from spamnb.reading.features import fingerprints_of
from spamnb.reading.identity import digest
from spamnb.reading.message import read
from spamnb.serve.judge import ReloadingModel, open_in_memory
from spamnb.store.stored_model import StoredModel
from spamnb.tables.loading import load_table
from spamnb.training import train as training
from spamnb.training.learn import learn

TEA = b"Subject: afternoon tea\nFrom: grandmother@example.org\n\nbiscuits with marmalade, biscuits\n"
PILLS = b"Subject: remedies\nFrom: quack@casino.example\n\nmiracle ointment, cheap pills\n"


def content(path):
    return Path(path).read_bytes()


def words_left(folder, words):
    """Those that stand in some file below a folder."""
    files = [content(path) for path in Path(folder).rglob("*") if path.is_file()]
    letters = b" ".join(run for data in files for run in re.findall(rb"[A-Za-z]{5,}", data))
    return sorted(word for word in words if word in letters)


@pytest.fixture(scope="module")
def mail_words(mail, tmp_path_factory):
    """Everything of five letters or more, but the names of settings, labels and numbers."""
    texts = [path.read_bytes() for folder in (mail.ham, mail.spam) for path in Path(folder).iterdir()]
    found = {word for raw in (*texts, TEA, PILLS) for word in re.findall(rb"[A-Za-z]{5,}", raw)}
    empty = str(tmp_path_factory.mktemp("names") / "empty")
    training.create(empty)
    learn(empty, b"To: a@b\n\nof no word\n", "ham")
    names = content(empty) + content(empty + ".journal")
    return {word for word in found | {word.lower() for word in found} if word not in names}


@pytest.fixture(scope="module")
def pair(spamnb, mail, tmp_path_factory):
    """The same mail learned with its words, and without."""
    folder = tmp_path_factory.mktemp("keyed")
    for name, options in (("plain", ()), ("keyed", ("--keyed",))):
        path = str(folder / name / "model")
        spamnb("train", *options, "--ham-loss", "5%", "--model", path, mail.ham, mail.spam).succeeds()
    return folder


@pytest.fixture
def both(pair, tmp_path):
    """Copies of both to be changed."""
    shutil.copytree(pair, tmp_path / "both")
    return [str(tmp_path / "both" / name / "model") for name in ("plain", "keyed")]


@pytest.fixture
def keyed(both):
    return both[1]


def known(path):
    """All that a model has, but for what tokens and messages are called."""
    stored = StoredModel.open(path)
    table = load_table(stored).clipped()
    rows = [table.message_counts, table.occurrence_counts, table.last_days[None], table.first_days[None]]
    tokens = sorted(zip(*(row.tolist() for part in rows for row in part), strict=True))
    learned = sorted(zip(table.learned.labels.tolist(), map(str, table.learned.scores.tolist()), strict=True))
    figures = [stored.head[name] for name in ("cutoffs", "calibration", "vocabulary", "presences")]
    grams = sorted(grams_of(table).values())
    return table.labels, table.messages, table.numbers, tokens, grams, learned, figures


def judged(path, messages, by=Model.open):
    model = by(path)
    verdicts = [model.classify(raw) for raw in messages]
    return [(one.label, one.score, [list(item.row) for item in one.evidence]) for one in verdicts]


def test_counts_cutoffs_and_verdicts_are_the_same(spamnb, mail, both):
    plain, keyed = both
    assert known(keyed) == known(plain)
    messages = mail.messages.values()
    assert judged(keyed, messages) == judged(keyed, messages, open_in_memory) == judged(plain, messages)
    answers = [spamnb("classify", "--json", "--model", one, mail.ham, mail.work).succeeds() for one in both]
    assert answers[0].out == answers[1].out


def test_learned_moved_forgotten_folded_and_no_word_in_any_file(spamnb, both, mail, mail_words):
    """Step by step beside the model that has words: one by one, in bulk, by the digests of either."""
    old = (Path(mail.ham) / "03").read_bytes()
    steps = [(TEA, "ham"), (TEA, "ham"), (PILLS, "ham"), (PILLS, "spam"), (old, "spam"), (old, None)]
    for raw, label in steps:
        results = [learn(path, raw, label) for path in both]
        assert results[0] == results[1]
        assert known(both[0]) == known(both[1])
        assert judged(both[0], [TEA, PILLS, old]) == judged(both[1], [TEA, PILLS, old])
    assert StoredModel.open(both[1]).label_of(digest(read(TEA), Model.open(both[1]).key)) == "ham"
    assert words_left(Path(both[1]).parent, mail_words) == []
    for path in both:
        fold(path)
        assert spamnb("train", "--model", path, "--ham", mail.work).succeeds().lines[0] == "ham: 14 learned"
        assert spamnb("train", "--model", path, "--ham", mail.work).lines[0] == "ham: 14 already known"
        spamnb("train", "--forget", "--model", path, "--ham", mail.work).succeeds()
        assert learn(path, TEA, None) == "forgotten"
    assert known(both[0]) == known(both[1])
    assert words_left(Path(both[1]).parent, mail_words) == []
    assert words_left(Path(both[0]).parent, mail_words)


def test_no_fingerprint_of_a_word_nor_the_digest_of_a_message_in_any_file(both, mail):
    messages = [path.read_bytes() for path in Path(mail.ham).iterdir()]
    for path in both:
        learn(path, PILLS, "spam")
    numbers = [*fingerprints_of(["viagra", "ointment", "subject:remedies"]), digest(read(messages[0]))]
    for path, is_there in zip(both, (True, False), strict=True):
        files = b"".join(content(file) for file in Path(path).parent.iterdir())
        assert [number.to_bytes(8, "little") in files for number in numbers] == [is_there] * len(numbers)
    assert content(both[1] + ".key") not in content(both[1])


def test_what_a_key_makes_of_numbers():
    """As docs/model-file.md says; and the same in another process."""
    secret = bytes(range(32))
    key, now = Key(secret), fingerprints_of(["now"])[0]

    def number(person, value):
        packed = value.to_bytes(8, "little")
        return int.from_bytes(blake2b(packed, key=secret, digest_size=8, person=person).digest(), "little")

    assert key.id == blake2b(key=secret, digest_size=8, person=b"key").hexdigest()
    assert key.fingerprints([now, 0]) == [number(b"token", now), number(b"token", 0)]
    assert key.digests([now]) == [number(b"message", now)]
    again = pickle.loads(pickle.dumps(key))
    assert (again.id, again.fingerprints([now])) == (key.id, key.fingerprints([now]))


def test_a_key_is_made_safely_one_for_each_model(spamnb, mail, keyed, tmp_path):
    status = os.lstat(keyed + ".key")
    assert (stat.S_IFMT(status.st_mode), status.st_mode & 0o777, status.st_size) == (stat.S_IFREG, 0o600, 32)
    other = str(tmp_path / "other")
    told = spamnb("train", "--keyed", "--model", other, mail.ham, mail.spam).succeeds()
    assert f"key: {other}.key (" in told.lines[4]
    assert content(other + ".key") != content(keyed + ".key")
    for mode, advised in ((0o604, True), (0o640, False)):
        os.chmod(keyed + ".key", mode)
        assert (b"chmod 600" in spamnb("inspect", "--model", keyed).succeeds().out) is advised


def test_a_fresh_model_keeps_the_key_even_unasked(spamnb, mail, keyed, tmp_path):
    before, key = known(keyed), content(keyed + ".key")
    spamnb("train", "--fresh", "--ham-loss", "5%", "--model", keyed, mail.ham, mail.spam).succeeds()
    assert (known(keyed), content(keyed + ".key")) == (before, key)
    shutil.copy(keyed + ".key", tmp_path / "new.key")
    spamnb.afresh("train", "--spam", "-", "--model", str(tmp_path / "new"), stdin=PILLS).succeeds()
    assert StoredModel.open(str(tmp_path / "new")).keyed == StoredModel.open(keyed).keyed


def test_a_model_that_kept_no_words_is_followed_by_none_that_does(spamnb, both, mail):
    """Its key may be lost, or cron may not know $SPAMNB_KEY."""
    plain, keyed = both
    before = content(keyed)
    os.unlink(keyed + ".key")
    export = spamnb("export", "--model", plain).succeeds().out
    anew = ("train", "--fresh", "--model", keyed, mail.ham, mail.spam)
    spamnb(*anew).fails(65, keyed + ".key", "--fresh --keyed")
    spamnb("import", "--fresh", "--model", keyed, "-", stdin=export).fails(65, "--fresh --keyed")
    assert (content(keyed), os.path.exists(keyed + ".key")) == (before, False)
    spamnb(*anew, "--keyed").succeeds()
    assert StoredModel.open(keyed).keyed
    before = content(plain)
    spamnb("train", "--keyed", "--model", plain, "--ham", mail.work).fails(65, "keyed", "--fresh")
    assert (content(plain), os.path.exists(plain + ".key")) == (before, False)


def test_a_key_elsewhere(spamnb, mail, tmp_path):
    place = tmp_path / "stick" / "secret"
    path, environment = str(tmp_path / "model"), spamnb.environment | {"SPAMNB_KEY": str(place)}
    train = ("train", "--keyed", "--ham-loss", "5%", "--model", path, mail.ham, mail.spam)
    spamnb(*train, env=environment).fails(73, str(place))
    assert not os.path.exists(path)
    place.parent.mkdir()
    assert str(place) in spamnb(*train, env=environment).succeeds().lines[4]
    assert not os.path.exists(path + ".key")
    verdict = spamnb("classify", "--model", path, stdin=mail.messages["spam"], env=environment)
    assert verdict.succeeds().out.startswith(b"spam\t")
    spamnb("classify", "--model", path, stdin=TEA).fails(65, path + ".key", "$SPAMNB_KEY")


def broken(path, how):
    os.unlink(path)
    if how == "a pipe":
        os.mkfifo(path)
    elif how == "a link to nothing":
        os.symlink("/nosuch", path)
    elif how != "missing":
        Path(path).write_bytes({"another": b"x" * 32, "short": b"x" * 31}[how])


@pytest.mark.parametrize("how", ["missing", "another", "short", "a pipe", "a link to nothing"])
def test_without_its_key_nothing_is_judged_or_learned(spamnb, mail, keyed, how):
    """In one line that names the file; what is there stays as it is, and is not replaced."""
    broken(keyed + ".key", how)
    before = content(keyed)
    commands = [("classify", "-p"), ("classify", mail.ham), ("train", "--spam", "-"), ("inspect",)]
    commands += [("train", "--spam", mail.work), ("evaluate", mail.ham, mail.spam)]
    for command in commands:
        spamnb(*command, "--model", keyed, stdin=PILLS).fails(65, keyed + ".key")
    if how not in ("missing", "another"):
        was = os.lstat(keyed + ".key")
        done = spamnb("train", "--fresh", "--keyed", "--model", keyed, mail.ham, mail.spam)
        done.fails(done.code, keyed + ".key")
        assert done.code in (65, 73)
        now = os.lstat(keyed + ".key")
        assert (now.st_ino, now.st_mtime_ns) == (was.st_ino, was.st_mtime_ns)
    assert (content(keyed), os.path.exists(keyed + ".journal")) == (before, False)


def test_without_its_key_a_model_is_folded_exported_and_judged_by_who_has_it(spamnb, keyed, mail):
    kept = ReloadingModel(keyed)
    before = kept.current().classify(mail.messages["spam"]).score
    learn(keyed, TEA, "ham")
    wanted = known(keyed)[:5]
    os.unlink(keyed + ".key")
    assert kept.current().classify(mail.messages["spam"]).score == before
    fold(keyed)
    spamnb("export", "--model", keyed).succeeds()
    assert known(keyed)[:5] == wanted


def test_exported_and_imported(spamnb, both, tmp_path, mail_words):
    """A backup needs its key; one with words is made one without."""
    keyed = both[1]
    texts = [spamnb("export", "--model", path).succeeds().out for path in both]
    assert [word for word in mail_words if word in texts[1]] == []
    for text, options in zip(texts, (["--keyed"], []), strict=True):
        back = str(tmp_path / f"back{len(options)}")
        if not options:
            spamnb("import", "--model", back, "-", stdin=text).fails(65, back + ".key")
        shutil.copy(keyed + ".key", back + ".key")
        spamnb("import", *options, "--model", back, "-", stdin=text).succeeds()
        assert content(back) == content(keyed)
    export = b".MSG_COUNT 40 50 20260101\nviagra 30 0 20260101\nsubj:cheap 9 1 20260101\n"
    other = str(tmp_path / "other" / "model")
    for _ in range(2):
        spamnb("import", "--keyed", "--model", other, "-", stdin=export).succeeds()
    assert words_left(tmp_path / "other", [b"viagra", b"cheap"]) == []
    assert spamnb("classify", "--model", other, stdin=b"\n\nviagra\n").out.split()[1] != b"0.0000"


def test_a_token_and_a_message_are_told_by_their_words(spamnb, both, mail):
    """By the word, or by the number that is shown of it; a message shows its own words."""
    keyed = both[1]
    shown, told = (
        spamnb("inspect", "--json", "--model", path, "--token", "viagra", "Subject:Cheap")
        .succeeds()
        .json_lines
        for path in both
    )
    assert shown == told
    top = spamnb("inspect", "--json", "--model", keyed).succeeds().json["telling"]["spam"][0]
    asked = spamnb("inspect", "--json", "--model", keyed, "--token", top["token"]).succeeds().json_lines[0]
    assert [*asked["messages"].values()] == top["messages"]
    spamnb("inspect", "--model", keyed, "--token", "viagr").fails(65, "viagr")
    raw = mail.messages["spam"]
    pages = [spamnb("inspect", "--model", path, "--all", "-", stdin=raw).succeeds().out for path in both]
    assert pages[0] == pages[1]
    text = spamnb("inspect", "--model", both[0], "--diff", keyed).succeeds().out
    assert b"cannot be compared" in text
