"""Models that keep no words: the same verdicts, by numbers that only a key can tell again."""

import os
import pickle
import re
import shutil
import stat
import subprocess
import sys
import time
from functools import partial
from itertools import islice
from pathlib import Path

import pytest
from fuzz.sealing import sealed_backup
from helpers.paths import SPAMASSASSIN
from helpers.serving import Serving

from spamnb.lock import TRAINING, Lock
from spamnb.mailboxes.sources import messages as messages_in
from spamnb.model import Model, settings_of, view_of
from spamnb.reading.fingerprint import fingerprints
from spamnb.reading.identity import digest
from spamnb.reading.message import read
from spamnb.serve.memory import opened
from spamnb.store.key import Key
from spamnb.store.stored import Stored
from spamnb.tables.count_table import Columns
from spamnb.tables.learned import Learned
from spamnb.training import train as training
from spamnb.training.calibration import Sample
from spamnb.training.learn import learn
from spamnb.training.train import Seen, fold
from spamnb.workers.local import LocalPool

LONG = bool(os.environ.get("SPAMNB_LONG"))
TEA = b"Subject: afternoon tea\nFrom: grandmother@example.org\n\nbiscuits with marmalade, biscuits\n"
PILLS = b"Subject: remedies\nFrom: quack@casino.example\n\nmiracle ointment, cheap pills\n"


def content(path):
    return Path(path).read_bytes()


def words_of(*messages, least=5):
    """Everything of so many letters or more, as it is written and as it is counted."""
    found = {word for raw in messages for word in re.findall(rb"[A-Za-z]{%d,}" % least, raw)}
    return found | {word.lower() for word in found}


def words_left(folder, words):
    """Those that stand in some file below a folder."""
    files = [content(path) for path in Path(folder).rglob("*") if path.is_file()]
    letters = b" ".join(run for data in files for run in re.findall(rb"[A-Za-z]{5,}", data))
    return sorted(word for word in words if word in letters)


def without_names(words, folder):
    """Words but those that any model has: names of settings, labels, numbers."""
    empty = str(folder / "empty")
    training.create(empty)
    learn(empty, b"To: a@b\n\nof no word\n", "ham")
    names = content(empty) + content(empty + ".journal")
    return {word for word in words if word not in names}


@pytest.fixture(scope="module")
def pair(spamnb, mail, tmp_path_factory):
    """The same mail learned with its words, and without."""
    folder = tmp_path_factory.mktemp("keyed")
    for name, options in (("plain", ()), ("keyed", ("--keyed",))):
        path = str(folder / name / "model")
        spamnb("train", "--jobs", "1", *options, "--model", path, mail.ham, mail.spam).succeeds()
    return folder


@pytest.fixture
def both(pair, tmp_path):
    """Copies of both to be changed."""
    shutil.copytree(pair, tmp_path / "both")
    return str(tmp_path / "both" / "plain" / "model"), str(tmp_path / "both" / "keyed" / "model")


@pytest.fixture
def plain(both):
    return both[0]


@pytest.fixture
def keyed(both):
    return both[1]


@pytest.fixture
def later(monkeypatch):
    """Three days have gone by."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(time.time()) + 3 * 86400))


@pytest.fixture(scope="module")
def mail_words(mail, tmp_path_factory):
    raw = [path.read_bytes() for folder in (mail.ham, mail.spam) for path in Path(folder).iterdir()]
    return without_names(words_of(*raw, TEA, PILLS), tmp_path_factory.mktemp("names"))


def counts(path):
    """All that a model has, but for what tokens and messages are called."""
    table = Columns.load(Stored.open(path)).settled()
    rows = [table.containing, table.occurring, table.days[None], table.first_days[None]]
    tokens = sorted(zip(*(row.tolist() for part in rows for row in part), strict=True))
    learned = sorted(zip(table.learned.labels.tolist(), map(str, table.learned.scores.tolist()), strict=True))
    return table.labels, table.messages, table.numbers, tokens, learned


def settled(path):
    head = Stored.open(path).head
    return [head[name] for name in ("cutoffs", "calibration", "ham_loss", "view", "vocabulary", "presences")]


def judged(spamnb, path, *mail):
    """Verdicts and scores of mailboxes."""
    return spamnb("classify", "--model", path, *mail).succeeds().out


def said(path, messages, by=Model.open):
    """Of single messages; neighbours are in no order, so that the last digits may differ."""
    model = by(path)
    verdicts = [model.classify(raw) for raw in messages]
    return [
        (one.label, round(one.score, 9), {item.token: list(item.row) for item in one.evidence})
        for one in verdicts
    ]


class TestSameVerdicts:
    def test_counts_cutoffs_and_verdicts(self, spamnb, mail, both):
        plain, keyed = both
        assert counts(keyed) == counts(plain)
        assert settled(keyed) == settled(plain)
        assert said(keyed, mail.messages.values()) == said(plain, mail.messages.values())
        assert said(keyed, mail.messages.values(), opened) == said(plain, mail.messages.values())
        everything = (mail.ham, mail.spam, mail.work)
        assert judged(spamnb, keyed, *everything) == judged(spamnb, plain, *everything)

    def test_real_mail(self, spamnb, tmp_path):
        """Half of it learned, the other half judged, at once and one by one; the table of an evaluation.

        And no word of eight letters is left: shorter ones may be there by chance.
        """
        most = None if LONG else 160
        for label in ("ham", "spam"):
            found = islice(messages_in([str(SPAMASSASSIN / f"{label}.mbox.xz")]), most)
            for n, one in enumerate(found):
                file = tmp_path / ("learned" if n % 2 else "other") / label / f"{n:04}"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(one.data)
        plain, keyed = str(tmp_path / "plain" / "model"), str(tmp_path / "keyed" / "model")
        learned, other = ([str(tmp_path / side / label) for label in ("ham", "spam")] for side in
                          ("learned", "other"))  # fmt: skip
        spamnb("train", "--model", plain, *learned).succeeds()
        spamnb("train", "--keyed", "--model", keyed, *learned).succeeds()
        assert counts(keyed) == counts(plain)
        assert settled(keyed) == settled(plain)
        assert judged(spamnb, keyed, *other) == judged(spamnb, plain, *other)
        tables = [spamnb("evaluate", "--model", path, *other).succeeds().out for path in (keyed, plain)]
        assert tables[0] == tables[1]
        singles = [path for folder in other for path in sorted(Path(folder).iterdir())][:: 1 if LONG else 10]
        model = Model.open(keyed)
        lines = [
            f"{(one := model.classify(content(path))).label}\t{one.score:.4f}\t{path}" for path in singles
        ]
        assert set(lines) <= set(judged(spamnb, keyed, *other).decode().splitlines())
        for path in (plain, keyed):
            learn(path, content(singles[0]), "ham")
        texts = [content(file) for folder in (*learned, *other) for file in Path(folder).iterdir()]
        words = without_names(words_of(*texts, least=8), tmp_path)
        assert len(words_left(tmp_path / "plain", words)) > 1000
        assert words_left(tmp_path / "keyed", words) == []

    def test_cutoffs_rest_on_the_same_messages(self, mail, tmp_path, monkeypatch):
        """Of many messages only some are scored; which, their digests decide."""
        monkeypatch.setattr(training, "Sample", partial(Sample, 6))
        paths = [str(tmp_path / name) for name in ("plain", "keyed")]
        for path, keyed in zip(paths, (False, True), strict=True):
            training.train(path, {"ham": [mail.ham], "spam": [mail.spam]}, keyed=keyed, pool=LocalPool(1))
        assert settled(paths[0]) == settled(paths[1])
        assert counts(paths[0]) == counts(paths[1])

    def test_several_processes_give_the_same_file(self, spamnb, mail, keyed, tmp_path):
        again = str(tmp_path / "again")
        shutil.copy(keyed + ".key", again + ".key")
        spamnb("train", "--jobs", "3", "--keyed", "--model", again, mail.ham, mail.spam).succeeds()
        assert content(again) == content(keyed)

    def test_other_settings_and_labels(self, spamnb, mail, tmp_path):
        labels = ("--ham", mail.ham, "--spam", mail.spam, "--label", f"work={mail.work}", "--ngrams", "2")
        plain, keyed = str(tmp_path / "plain"), str(tmp_path / "keyed")
        spamnb("train", "--jobs", "1", "--model", plain, *labels).succeeds()
        spamnb("train", "--jobs", "1", "--keyed", "--model", keyed, *labels).succeeds()
        assert counts(keyed) == counts(plain)
        for event in ("multinomial", "bernoulli", "gaussian"):
            answers = [
                spamnb("classify", "--event", event, "--model", path, mail.work).succeeds().out
                for path in (plain, keyed)
            ]
            assert answers[0] == answers[1]


class TestAllThatIsDoneWithAModel:
    def test_learned_moved_forgotten_folded(self, both, mail, mail_words):
        """Step by step beside the model that has words; and none in any file at any time."""
        known = (Path(mail.ham) / "03").read_bytes()
        steps = [(TEA, "ham"), (TEA, "ham"), (PILLS, "ham"), (PILLS, "spam"), (known, "spam"), (known, None),
                 (TEA, None), (TEA, "spam"), (b"never seen", None)]  # fmt: skip
        for number, (raw, label) in enumerate(steps):
            results = [learn(path, raw, label) for path in both]
            assert results[0] == results[1]
            if number == 5:
                for path in both:
                    with Lock(path, kind=TRAINING):
                        fold(path)
            assert counts(both[0]) == counts(both[1])
            assert said(both[0], [TEA, PILLS, known]) == said(both[1], [TEA, PILLS, known])
            assert words_left(Path(both[1]).parent, mail_words) == []
        stored = Stored.open(both[1])
        assert stored.label_of(stored.hidden_digest(digest(read(TEA)))) == "spam"
        assert len(stored.journal.entries) == 2
        for entry in stored.journal.entries:
            assert bytes(entry.text).strip(b"\n") == b""

    def test_learned_in_bulk_and_forgotten_in_bulk(self, spamnb, mail, both):
        before = counts(both[1])
        for path in both:
            work = ("--ham", mail.work)
            assert spamnb("train", "--model", path, *work).succeeds().lines[0] == "ham: 14 learned"
            assert spamnb("train", "--model", path, *work).succeeds().lines[0] == "ham: 14 already known"
            learn(path, (Path(mail.work) / "03").read_bytes(), "spam")  # by the digest that bulk left
        assert counts(both[1]) == counts(both[0])
        for path in both:
            spamnb("train", "--forget", "--model", path, "--ham", mail.work).succeeds()
        assert counts(both[1])[:4] == before[:4]

    def test_what_is_known_need_not_be_read_again(self, keyed, mail):
        stored = Stored.open(keyed)
        seen = Seen(Learned.load(stored), stored.labels, stored.key)
        known = digest(read((Path(mail.ham) / "03").read_bytes()))
        assert seen.is_known(known, "ham")
        assert not seen.is_known(known, "spam")

    def test_what_is_learned_while_a_new_model_is_made_comes_along(self, keyed, mail_words):
        before = Stored.open(keyed)
        table, settings, view = Columns.load(before).settled(), settings_of(before), view_of(before)
        learn(keyed, TEA, "ham")
        training.write(keyed, table, settings, view, 0.01, before)
        assert Stored.open(keyed).messages == [15, 14]
        assert len(Stored.open(keyed).journal.entries) == 1
        assert Model.open(keyed).stored.rows(["biscuits"]) == {"biscuits": (1, 0, 2, 0)}
        assert words_left(Path(keyed).parent, mail_words) == []

    def test_a_damaged_journal_is_kept_aside(self, keyed, mail_words):
        for raw, label in ((TEA, "ham"), (PILLS, "spam")):
            learn(keyed, raw, label)
        damaged = bytearray(content(keyed + ".journal"))
        damaged[len(damaged) // 4] ^= 1
        Path(keyed + ".journal").write_bytes(damaged)
        with Lock(keyed, kind=TRAINING):
            fold(keyed)
        assert content(keyed + ".journal.damaged") == damaged
        assert words_left(Path(keyed).parent, mail_words) == []

    def test_its_own_mail_is_told(self, spamnb, keyed, mail):
        words = ("evaluate", "--model", keyed, mail.ham, mail.spam)
        assert spamnb(*words, "--json").succeeds().json["learned"] == 28
        spamnb(*words, "--skip-learned").fails(65, "all 28 messages")

    def test_tuned(self, spamnb, keyed, mail, mail_words):
        known_as = Stored.open(keyed).keyed
        said = spamnb("tune", "--fresh", "--folds", "2", "--model", keyed, mail.ham, mail.spam).succeeds()
        assert said.lines[-1].startswith(f"key: {keyed}.key")
        assert Stored.open(keyed).keyed == known_as
        assert words_left(Path(keyed).parent, mail_words) == []

    def test_pruned(self, spamnb, both):
        answers = [
            spamnb("prune", "--older-than", "0", "--rarer-than", "3", "--model", path).succeeds().lines[:2]
            for path in both
        ]
        assert answers[0] == answers[1]
        assert counts(both[0]) == counts(both[1])

    def test_a_backup_comes_back_byte_for_byte(self, spamnb, keyed, tmp_path, mail_words):
        learn(keyed, TEA, "ham")
        with Lock(keyed, kind=TRAINING):
            fold(keyed)
        text = spamnb("export", "--model", keyed).succeeds().out
        assert [word for word in mail_words if word in text] == []
        back = str(tmp_path / "back")
        spamnb("import", "--model", back, "-", stdin=text).fails(65, back + ".key")
        assert not os.path.exists(back)
        shutil.copy(keyed + ".key", back + ".key")
        assert "key: " in spamnb("import", "--model", back, "-", stdin=text).succeeds().lines[-1]
        assert content(back) == content(keyed)

    @pytest.mark.usefixtures("later")
    def test_a_model_with_words_is_made_one_without(self, spamnb, both, tmp_path, mail_words):
        plain, keyed = both
        for path in both:
            learn(path, TEA, "ham")
            with Lock(path, kind=TRAINING):
                fold(path)
        text = spamnb("export", "--model", plain).succeeds().out
        made = str(tmp_path / "made" / "model")
        os.mkdir(tmp_path / "made")
        shutil.copy(keyed + ".key", made + ".key")
        spamnb("import", "--keyed", "--model", made, "-", stdin=text).succeeds()
        assert content(made) == content(keyed)
        assert words_left(tmp_path / "made", mail_words) == []

    def test_a_backup_of_before_there_were_keys(self, spamnb, plain, mail, tmp_path):
        text = spamnb("export", "--model", plain).succeeds().out
        older = sealed_backup(text.replace(b'"keyed": "", ', b""))
        assert older != text
        back = str(tmp_path / "back")
        spamnb("import", "--model", back, "-", stdin=older).succeeds()
        assert judged(spamnb, back, mail.ham, mail.spam) == judged(spamnb, plain, mail.ham, mail.spam)
        spamnb("train", "--model", back, "--ham", mail.work).succeeds()
        assert spamnb("inspect", "--model", back, "--diff", plain, "--json").succeeds().json["moved"]

    def test_another_filters_words(self, spamnb, tmp_path):
        lines = (".MSG_COUNT 40 50", "viagra 30 0", "agenda 0 20", "subj:cheap 9 1")
        export = "".join(f"{line} 20260101\n" for line in lines).encode()
        answers = []
        for name, options in (("plain", ()), ("keyed", ("--keyed",))):
            path = str(tmp_path / name / "model")
            spamnb("import", *options, "--model", path, "-", stdin=export).succeeds()
            spamnb("import", *options, "--model", path, "-", stdin=export).succeeds()
            learn(path, b"Subject: cheap\n\nviagra marmalade\n", "spam")
            answers.append((counts(path), spamnb("classify", "--model", path, stdin=b"\n\nviagra\n").out))
        assert answers[0] == answers[1]
        assert words_left(tmp_path / "plain", [b"viagra", b"agenda"]) == [b"agenda", b"viagra"]
        assert words_left(tmp_path / "keyed", [b"viagra", b"agenda", b"cheap", b"marmalade"]) == []
        spamnb("import", "--keyed", "--model", str(tmp_path / "plain" / "model"), "-", stdin=export).fails(
            65, "--keyed", "--fresh"
        )

    @pytest.mark.slow
    def test_a_server_judges_and_learns(self, spamnb, both, tmp_path, mail, mail_words):
        replies = []
        for path in both:
            server = Serving(spamnb, tmp_path, model=path, workers=1, allow_tell=True)
            try:
                tell = (
                    b"TELL SPAMC/1.5\r\nMessage-class: spam\r\nSet: local\r\nContent-length: %d\r\n\r\n%s"
                    % (len(PILLS), PILLS)
                )
                checks = [
                    b"SYMBOLS SPAMC/1.5\r\nContent-length: %d\r\n\r\n%s" % (len(raw), raw)
                    for raw in (*mail.messages.values(), TEA)
                ]
                before = [server.ask(check) for check in checks]
                assert b"DidSet: local" in server.ask(tell)
                replies.append((before, [server.ask(check) for check in checks]))
            finally:
                server.end()
        assert replies[0] == replies[1]
        assert counts(both[0]) == counts(both[1])
        assert words_left(Path(both[1]).parent, mail_words) == []


class TestNoWords:
    def test_in_any_file(self, pair, mail_words):
        assert len(mail_words) > 20
        assert words_left(pair / "plain", mail_words)  # or this would find nothing anywhere
        assert words_left(pair / "keyed", mail_words) == []
        assert {path.name for path in (pair / "keyed").iterdir()} == {
            "model",
            "model.key",
            "model.lock",
            "model.training",
        }

    @pytest.mark.parametrize("keyed", [True, False])
    def test_while_it_is_trained(self, spamnb, mail, tmp_path, mail_words, keyed):
        """Cut off when the new model is written and not yet in its place."""
        temporary = tmp_path / "temporary"
        temporary.mkdir()
        code = (
            "import os, sys; from spamnb.training import train as training\n"
            "from spamnb.workers.local import LocalPool\n"
            "training.put_in_place = lambda *_: os._exit(9)\n"
            "sources = {'ham': [sys.argv[2]], 'spam': [sys.argv[3]]}\n"
            f"training.train(sys.argv[1], sources, keyed={keyed}, pool=LocalPool(2))"
        )
        path = str(tmp_path / "model")
        environment = spamnb.environment | {"TMPDIR": str(temporary)}
        command = [sys.executable, "-c", code, path, mail.ham, mail.spam]
        assert subprocess.run(command, env=environment, check=False).returncode == 9
        assert os.path.getsize(path + ".new") > 1000
        assert bool(words_left(tmp_path, mail_words)) is not keyed

    def test_who_has_the_model_alone_cannot_try_words_out(self, keyed, plain):
        """No number of a word is there, nor of a pair, nor the digest of a message."""
        for name in ("tokens", "pairs"):
            columns = [Columns.load(Stored.open(path)).hashes.tolist() for path in (plain, keyed)]
            assert set(columns[0]).isdisjoint(columns[1]), name
        digests = [Columns.load(Stored.open(path)).learned.digests.tolist() for path in (plain, keyed)]
        assert set(digests[0]).isdisjoint(digests[1])
        assert content(keyed + ".key") not in content(keyed)


class TestKey:
    def test_its_file(self, keyed):
        status = os.lstat(keyed + ".key")
        assert stat.S_ISREG(status.st_mode)
        assert stat.S_IMODE(status.st_mode) == 0o600
        assert status.st_size == 32

    def test_one_that_everybody_can_read(self, spamnb, keyed, mail):
        commands = (("inspect", "--model", keyed), ("train", "--model", keyed, "--ham", mail.work))
        for mode, advised in ((0o604, True), (0o640, False)):
            os.chmod(keyed + ".key", mode)
            for command in commands:
                assert (b"chmod 600" in spamnb(*command).succeeds().out) is advised

    def test_each_model_has_its_own(self, spamnb, mail, keyed, tmp_path):
        other = str(tmp_path / "other")
        said = spamnb("train", "--keyed", "--model", other, mail.ham, mail.spam).succeeds()
        assert f"key: {other}.key (" in said.lines[4]
        assert content(other + ".key") != content(keyed + ".key")
        assert Stored.open(other).keyed != Stored.open(keyed).keyed

    def test_a_fresh_model_keeps_the_key_even_unasked(self, spamnb, mail, keyed):
        before, key = content(keyed), content(keyed + ".key")
        for options in (["--keyed"], []):
            spamnb("train", "--fresh", *options, "--model", keyed, mail.ham, mail.spam).succeeds()
            assert (content(keyed), content(keyed + ".key")) == (before, key)

    def test_a_model_that_kept_no_words_is_followed_by_none_that_does(self, spamnb, plain, keyed, mail):
        """Its key may be lost, or cron may not know $SPAMNB_KEY."""
        before = content(keyed)
        os.unlink(keyed + ".key")
        export = spamnb("export", "--model", plain).succeeds().out
        anew = ("train", "--fresh", "--model", keyed, mail.ham, mail.spam)
        spamnb(*anew).fails(65, keyed + ".key", "--fresh --keyed")
        spamnb("import", "--fresh", "--model", keyed, "-", stdin=export).fails(65, "--fresh --keyed")
        assert (content(keyed), os.path.exists(keyed + ".key")) == (before, False)
        spamnb(*anew, "--keyed").succeeds()
        assert Stored.open(keyed).keyed
        os.unlink(keyed + ".key")
        os.unlink(keyed)
        spamnb(*anew).succeeds()
        assert not Stored.open(keyed).keyed

    def test_the_first_message_makes_a_model_with_the_key_that_is_there(self, spamnb, keyed, tmp_path):
        path = str(tmp_path / "new" / "model")
        os.mkdir(tmp_path / "new")
        shutil.copy(keyed + ".key", path + ".key")
        spamnb.afresh("train", "--spam", "-", "--model", path, stdin=PILLS).succeeds()
        assert Stored.open(path).keyed == Stored.open(keyed).keyed
        assert words_left(tmp_path / "new", words_of(PILLS)) == []

    def test_the_first_message_makes_a_model_and_its_key(self, spamnb, tmp_path):
        path = str(tmp_path / "new" / "model")
        spamnb("train", "--keyed", "--spam", "-", "--model", path, stdin=PILLS).succeeds()
        assert Stored.open(path).keyed
        assert words_left(tmp_path / "new", words_of(PILLS)) == []

    def test_elsewhere(self, spamnb, mail, tmp_path):
        place = tmp_path / "stick" / "secret"
        path, environment = str(tmp_path / "model"), spamnb.environment | {"SPAMNB_KEY": str(place)}
        train = ("train", "--keyed", "--model", path, mail.ham, mail.spam)
        spamnb(*train, env=environment).fails(73, str(place))
        assert not os.path.exists(path)
        place.parent.mkdir()
        assert str(place) in spamnb(*train, env=environment).succeeds().lines[4]
        assert not os.path.exists(path + ".key")
        verdict = spamnb("classify", "--model", path, stdin=mail.messages["spam"], env=environment)
        assert verdict.succeeds().out.startswith(b"spam\t")
        spamnb("classify", "--model", path, stdin=TEA).fails(65, path + ".key", "$SPAMNB_KEY")

    def test_of_another_model_settings_are_settled(self, spamnb, mail, both):
        plain, keyed = both
        before = content(plain)
        spamnb("train", "--keyed", "--model", plain, "--ham", mail.work).fails(65, "keyed", "--fresh")
        assert (content(plain), os.path.exists(plain + ".key")) == (before, False)
        spamnb("train", "--keyed", "--model", keyed, "--ham", mail.work).succeeds()

    def broken(self, path, how):
        os.unlink(path)
        if how == "another":
            Path(path).write_bytes(b"x" * 32)
        elif how == "short":
            Path(path).write_bytes(b"x" * 31)
        elif how == "empty":
            Path(path).write_bytes(b"")
        elif how == "a pipe":
            os.mkfifo(path)
        elif how == "a folder":
            os.mkdir(path)
        elif how == "a link to nothing":
            os.symlink("/nosuch", path)

    @pytest.mark.parametrize(
        "how", ["missing", "another", "short", "empty", "a pipe", "a folder", "a link to nothing"]
    )
    def test_without_it_nothing_is_judged_or_learned(self, spamnb, mail, keyed, how):
        """In one line that names the file; what is there stays as it is."""
        self.broken(keyed + ".key", how)
        before = content(keyed)
        commands = [
            ("classify", "-e"), ("classify", "-p"), ("classify", mail.ham), ("train", "--spam", "-"),
            ("train", "--spam", mail.work), ("train", "--forget", "--spam", "-"), ("inspect",),
            ("inspect", "--token", "viagra"), ("evaluate", mail.ham, mail.spam),
        ]  # fmt: skip
        for command in commands:
            spamnb(*command, "--model", keyed, stdin=PILLS).fails(65, keyed + ".key")
        assert content(keyed) == before
        assert not os.path.exists(keyed + ".journal")

    def test_without_it_the_journal_is_folded_and_a_backup_written(self, spamnb, keyed):
        learn(keyed, TEA, "ham")
        wanted = counts(keyed)
        os.unlink(keyed + ".key")
        with Lock(keyed, kind=TRAINING):
            fold(keyed)
        assert not os.path.exists(keyed + ".journal")
        spamnb("prune", "--model", keyed).succeeds()
        spamnb("export", "--model", keyed).succeeds()
        assert counts(keyed) == wanted

    @pytest.mark.parametrize("how", ["short", "empty", "a pipe", "a folder", "a link to nothing"])
    def test_one_that_is_none_is_never_replaced(self, spamnb, mail, keyed, how):
        def key():
            status = os.lstat(keyed + ".key")
            return status.st_ino, status.st_mode, status.st_mtime_ns

        self.broken(keyed + ".key", how)
        before, was = content(keyed), key()
        for options in (["--keyed"], []):
            done = spamnb("train", "--fresh", *options, "--model", keyed, mail.ham, mail.spam)
            done.fails(done.code, keyed + ".key")
            assert done.code in (65, 73)
        assert (content(keyed), key()) == (before, was)

    def test_a_server_that_has_it_goes_on_when_it_is_gone(self, keyed, mail):
        from spamnb.serve.judge import ReloadingModel

        kept = ReloadingModel(keyed)
        before = kept.current().classify(mail.messages["spam"]).score
        learn(keyed, TEA, "ham")
        os.unlink(keyed + ".key")
        assert kept.current().classify(mail.messages["spam"]).score == before

    def test_what_it_makes_of_numbers(self):
        """As docs/model-file.md says; the same for one and for many, and for another process."""
        from hashlib import blake2b

        secret = bytes(range(32))
        key, now = Key(secret), fingerprints(["now"])[0]

        def number(person, value):
            packed = value.to_bytes(8, "little")
            return int.from_bytes(
                blake2b(packed, key=secret, digest_size=8, person=person).digest(), "little"
            )

        assert key.id == blake2b(key=secret, digest_size=8, person=b"key").hexdigest()
        assert key.fingerprints([now, 0]) == [number(b"token", now), number(b"token", 0)]
        assert key.fingerprints([]) == []
        assert key.digest(now) == number(b"message", now)
        again = pickle.loads(pickle.dumps(key))
        assert (again.id, again.fingerprints([now])) == (key.id, key.fingerprints([now]))


class TestInspect:
    def test_the_model(self, spamnb, both, mail_words):
        plain, keyed = both
        learn(keyed, TEA, "ham")
        learn(plain, TEA, "ham")
        text = spamnb("inspect", "--model", keyed, "--top", "40").succeeds().out
        assert b"none are kept" in text
        assert text.count(b"no words") + text.count(b"none are kept") == 1
        assert len(set(re.findall(rb"#[0-9a-f]{16}", text))) > 20
        assert [word for word in mail_words if word in text] == []
        assert b"none are kept" not in spamnb("inspect", "--model", plain).succeeds().out
        told, shown = (
            spamnb("inspect", "--json", "--model", path).succeeds().json for path in (keyed, plain)
        )
        assert told["settings"]["keyed"] == Stored.open(keyed).keyed
        assert shown["settings"]["keyed"] == ""
        for name in ("messages", "tokens", "occurrences", "vocabulary", "pairs", "cutoffs", "own_mail"):
            assert told[name] == shown[name]
        for label in ("ham", "spam"):
            weights = [[one["weight"] for one in each["telling"][label]] for each in (told, shown)]
            assert weights[0] == weights[1]

    @pytest.mark.usefixtures("later")
    @pytest.mark.parametrize("learned", [False, True])
    def test_a_token(self, spamnb, both, learned):
        """By the word, or by the number that is shown of it."""
        plain, keyed = both
        for path in both if learned else ():
            learn(path, TEA, "ham")
        words = ("viagra", "Subject:Cheap", *(("biscuits", "subject:afternoon") if learned else ()))
        told, shown = (
            spamnb("inspect", "--json", "--model", path, "--token", *words).succeeds().json
            for path in (keyed, plain)
        )
        assert [one | {"near": []} for one in shown] == told
        top = spamnb("inspect", "--json", "--model", keyed).succeeds().json["telling"]["spam"][0]
        asked = spamnb("inspect", "--json", "--model", keyed, "--token", top["token"]).succeeds().json[0]
        assert [*asked["messages"].values()] == top["messages"]
        assert b"keeps no words" in spamnb("inspect", "--model", keyed, "--token", "viagra").succeeds().out
        spamnb("inspect", "--model", keyed, "--token", "viagr").fails(65, "viagr")
        spamnb("inspect", "--model", keyed, "--token", "#" + "0" * 16).fails(65, "#0000")

    def test_a_message_shows_its_own_words(self, spamnb, both, mail, tmp_path):
        pages = []
        for path in both:
            page = str(tmp_path / "page.html")
            for options in ([], ["--json"], ["--all"]):
                pages.append(
                    spamnb("inspect", "--model", path, *options, "-", stdin=mail.messages["spam"])
                    .succeeds()
                    .out
                )
            spamnb("inspect", "--model", path, "--html", page, "-", stdin=mail.messages["spam"]).succeeds()
            pages.append(content(page))
        assert pages[:4] == pages[4:]
        assert b"viagra" in pages[0]

    def test_samples_pictures_and_reports(self, spamnb, keyed, mail, tmp_path, mail_words):
        learn(keyed, TEA, "ham")
        plot, report = str(tmp_path / "plot.svg"), str(tmp_path / "report.html")
        drawn = spamnb("inspect", "--model", keyed, "--sample", "ham", "--seed", "7").succeeds().out
        assert b"no words" in drawn
        made = spamnb("inspect", "--model", keyed, "--sample", "ham", "--seed", "7", "--json").succeeds().json
        assert all(sum(one["tokens"].values()) == one["length"] for one in made["messages"])
        spamnb("inspect", "--model", keyed, "--plot", plot).succeeds()
        spamnb("evaluate", "--model", keyed, "--report", report, mail.ham, mail.spam).succeeds()
        assert b"#" in content(plot)
        assert [word for word in mail_words if word in drawn] == []

    def test_differences(self, spamnb, both, mail):
        plain, keyed = both
        other = keyed + "-other"
        shutil.copy(keyed, other)
        shutil.copy(keyed + ".key", other + ".key")
        for _ in range(2):
            learn(other, TEA, "spam")
        told = spamnb("inspect", "--model", keyed, "--diff", other, "--json").succeeds().json
        assert "keyed" not in told["settings"]
        assert all(one["token"].startswith("#") for one in told["moved"])
        assert any(one["messages_there"] == {"ham": 0, "spam": 1} for one in told["moved"])
        assert b"no words" in spamnb("inspect", "--model", keyed, "--diff", other).succeeds().out
        for here, there in ((plain, keyed), (keyed, plain)):
            text = spamnb("inspect", "--model", here, "--diff", there, mail.work).succeeds().out
            assert b"cannot be compared" in text
            assert b"0 of 14 verdicts change" in text


IMPORTS = "import sys; from spamnb.start import main; sys.exit(main())"


def loaded(spamnb, path, stdin, *command):
    run = [sys.executable, "-X", "importtime", "-c", IMPORTS, *command, "--model", path]
    done = spamnb.run(run, stdin)
    assert done.code == 0, done.err.decode()
    return {line.rpartition("|")[2].strip() for line in done.err.decode().splitlines()}


@pytest.mark.parametrize("command", [["classify"], ["train", "--spam", "-"]], ids=" ".join)
def test_a_delivery_loads_what_it_needs(spamnb, both, command):
    """Ordinary models do not pay for keys; and nobody pays for hashlib."""
    plain, keyed = (loaded(spamnb, path, PILLS, *command) for path in both)
    assert keyed - plain <= {"spamnb.store.key", "_blake2"}
    assert "spamnb.store.key" in keyed - plain
    assert "hashlib" not in keyed
