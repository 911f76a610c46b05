"""`spamnb evaluate`: the table, and the same in JSON."""

import shutil
from pathlib import Path

import pytest

from spamnb.evaluation.candidates import parse_settings
from spamnb.training.learn import learn
from spamnb.training.train import train
from spamnb.workers import LocalPool

KEYS = {
    "messages", "labels", "accuracy", "confusion", "unsure", "ham_lost_percent", "spam_missed_percent",
    "one_minus_auc_percent", "folds",
}  # fmt: skip


@pytest.fixture(scope="module")
def judged(spamnb, mail):
    return spamnb("evaluate", "--json", "--folds", "2", mail.ham, mail.spam).succeeds()


def test_json(judged):
    metrics = judged.json
    assert set(metrics) >= KEYS
    assert metrics["messages"] == 28
    assert metrics["folds"] == 2
    assert set(metrics["labels"]) == {"ham", "spam"}
    for own in metrics["labels"].values():
        assert set(own) >= {"precision", "recall", "f1", "support"}
        assert own["support"] == 14
    assert sum(sum(row.values()) for row in metrics["confusion"].values()) == 28
    right = sum(metrics["confusion"][label][label] for label in ("ham", "spam"))
    assert metrics["accuracy"] == right / 28


def test_three_labels(spamnb, mail, tmp_path):
    labels = ("--ham", mail.ham, "--spam", mail.spam, "--label", f"work={mail.work}")
    metrics = (
        spamnb("evaluate", "--json", "--folds", "3", "--settings", "event=binary", *labels).succeeds().json
    )
    assert list(metrics["labels"]) == ["ham", "spam", "work"]
    assert metrics["confusion"]["work"]["work"] == 14
    report = tmp_path / "report.html"
    spamnb("evaluate", "--folds", "3", "--report", report, *labels).succeeds()
    for words in ("Bars up are not spam", "taken for not spam"):
        assert words in report.read_text()


def test_a_mistake_between_other_labels_than_spam(spamnb, mail, tmp_path):
    """Its evidence tells these two apart, and speaks for the verdict."""
    wrong = tmp_path / "wrong"
    wrong.write_bytes(mail.messages["work"])
    labels = ("--ham", mail.ham, "--ham", wrong, "--spam", mail.spam, "--label", f"work={mail.work}")
    (mistake,) = spamnb("evaluate", "--json", "--folds", "3", *labels).succeeds().json["mistakes"]
    assert (mistake["truth"], mistake["verdict"]) == ("ham", "work")
    assert all(weight > 0 for _, weight in mistake["evidence"])


def test_too_little_mail(spamnb, mail, tmp_path):
    spamnb("evaluate", "--folds", "15", mail.ham, mail.spam).fails(65, "15 folds", "ham has 14")
    spamnb("evaluate", mail.ham, "/nosuch").fails(66, "/nosuch")
    spamnb("evaluate", tmp_path, mail.spam).fails(65, "no ham")
    spamnb("evaluate", "--model", "/nosuch", mail.ham, mail.spam).fails(75, "spamnb train")
    empty = [tmp_path / "a", tmp_path / "b"]
    for folder in empty:
        folder.mkdir()
    spamnb("evaluate", "--model", spamnb.model, *empty).fails(65, "no mail", str(empty[0]))
    spamnb("evaluate", "--label", f"a={mail.ham}", "--label", f"b={mail.ham}").fails(64, mail.ham)


def test_mistakes_are_shown_with_their_reasons(spamnb, mail, tmp_path):
    """A spam among the ham: the filter is right, and tells."""
    ham = tmp_path / "ham"
    shutil.copytree(mail.ham, ham)
    (ham / "wrong").write_bytes(mail.messages["spam"])
    options = ("evaluate", "--folds", "3", "--settings", "event=multinomial", ham, mail.spam)
    worst = {one["path"]: one for one in spamnb(*options, "--json").succeeds().json["mistakes"]}
    one = worst[str(ham / "wrong")]
    assert (one["truth"], one["verdict"], one["subject"]) == ("ham", "spam", "cheap pills 99")
    assert one["evidence"][0][1] > 0
    assert "cheap pills 99" in spamnb(*options).succeeds().out.decode()
    assert spamnb(*options, "--json", "--top", "0").succeeds().json["mistakes"] == []


def test_online(spamnb, mail):
    """Messages are judged as they came, the first by a filter that knows nothing."""
    options = ("evaluate", "--online", mail.ham, mail.spam)
    found = spamnb(*options, "--json").succeeds().json
    assert found["how"] == "online"
    assert found["folds"] is None
    assert found["messages"] == found["curve"][-1]["messages"] == 28
    text = spamnb(*options).succeeds().out.decode()
    assert "judged online" in text
    assert "learning curve" in text


def test_compare(spamnb, mail):
    """Against the first that was named, also where the mail is to be read once more."""
    names = ["event=bernoulli,smoothing=0.1", "default", "ngrams=2"]
    options = ["evaluate", "--folds", "2", mail.ham, mail.spam]
    options += [option for name in names for option in ("--settings", name)]
    found = spamnb(*options, "--json").succeeds().json_lines
    assert [one["name"] for one in found] == names
    assert [one["against_first"]["verdicts_p"] is None for one in found] == [True, False, False]
    for one in found:
        against = one["against_first"]
        assert against["won"] + against["tied"] + against["lost"] == one["messages"] == 28
        # The verdicts compared are those that the table shows: unsure is not right.
        assert against["won"] - against["lost"] == right_verdicts(one) - right_verdicts(found[0])
    assert 0 < found[1]["against_first"]["verdicts_p"] <= 1
    text = spamnb(*options).succeeds().out.decode()
    assert "2 folds" in text
    assert "corrected for all tests" in " ".join(text.split())
    assert all(name in text for name in names[1:])


def right_verdicts(figures):
    return sum(figures["confusion"][label].get(label, 0) for label in figures["labels"])


@pytest.mark.parametrize("way", ["--folds 2", "--online", "--folds 2 --settings default --settings ngrams=2"])
def test_what_cannot_be_read_is_told(spamnb, mail, damaged, way):
    """By name and by the exit code, as `train` does; the figures are there all the same."""
    done = spamnb("evaluate", *way.split(), damaged, mail.spam)
    assert done.code == 65
    assert done.err.decode().startswith(f"spamnb: {damaged}/cut.gz: ")
    assert done.err.count(b"\n") == 1
    assert b"F1" in done.out


def test_a_file_that_cannot_be_written_is_told_first(spamnb, mail, damaged, tmp_path):
    """The output file is checked before any mail is read, else unreadable mail would be reported, too."""
    words = ("evaluate", "--folds", "2", "--report", tmp_path / "no/file", damaged, mail.spam)
    spamnb(*words).fails(73, "no/file: cannot be written; name another file")


def test_a_file_that_is_there_stays_if_the_work_fails(spamnb, mail, tmp_path):
    file, new, led = tmp_path / "file", tmp_path / "new", tmp_path / "link"
    file.write_text("before")
    led.symlink_to(tmp_path / "target")
    for path in (file, new, led):
        spamnb("evaluate", "--folds", "15", "--report", path, mail.ham, mail.spam).fails(65, "15 folds")
    assert file.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]
    spamnb("evaluate", "--folds", "2", "--report", led, mail.ham, mail.spam).succeeds()
    assert "spam" in (tmp_path / "target").read_text()


def test_what_fails_to_be_written_in_the_end_costs_nothing_else(spamnb, mail, judged):
    """The figures come out."""
    done = spamnb("evaluate", "--json", "--folds", "2", mail.ham, mail.spam, "--report", "/dev/full")
    assert (done.code, done.out) == (74, judged.out)
    assert done.err == b"spamnb: /dev/full: No space left on device\n"


@pytest.mark.parametrize("journal", [False, True])
def test_by_a_model_that_has_learned_some_of_the_mail(spamnb, mail, own, tmp_path, journal):
    """It would judge what it has learned too well: that is left out, lessons one by one, too."""
    if journal:
        learn(own, mail.messages["ham"], "ham")
    ham = tmp_path / "ham"
    ham.mkdir()
    (ham / "known").write_bytes(mail.messages["ham"])
    (ham / "other").write_bytes(mail.messages["unsure"])
    words, known = ("evaluate", "--model", own, ham, mail.spam), 14 + journal
    found = spamnb(*words, "--json").succeeds().json
    assert (found["learned"], found["messages"], found["folds"]) == (known, 16 - known, None)
    text = spamnb(*words).succeeds().out.decode()
    assert f"left out, because the model has already learned them: {known}" in text


@pytest.fixture(scope="module")
def tuned(spamnb, mail):
    return spamnb("evaluate", "--tune", "--folds", "2", "--jobs", "1", mail.ham, mail.spam).succeeds()


def test_tuning_tries_all_against_the_default(tuned):
    """Twenty-eight messages show nothing beyond chance, so the default stays."""
    text = " ".join(tuned.out.decode().split())
    for name in ("event=bernoulli", "smoothing=0.1", "least-evidence=3.0", "damping=8", "word-pairs=no"):
        assert name in text
    for name in ("ngrams=2", "headers=no"):  # on top of the best of the others
        assert name in text
    assert tuned.lines[-1].startswith("chosen: default; ")
    assert "this mail" in tuned.lines[-1]  # why


@pytest.mark.parametrize("name", ["event=bernoulli", "damping=4,ngrams=2,headers=no"])
def test_train_takes_settings_as_evaluate_names_them(spamnb, mail, tmp_path, name):
    settings, view = parse_settings(name)
    theirs, ours = str(tmp_path / "theirs"), str(tmp_path / "ours")
    sources = {"ham": [mail.ham], "spam": [mail.spam]}
    train(theirs, sources, settings, view=view, pool=LocalPool(1))
    for _ in range(2):  # once more, with the same settings
        options = ("--model", ours, "--jobs", "1", "--settings", name)
        spamnb("train", *options, mail.ham, mail.spam).succeeds()
        assert Path(ours).read_bytes() == Path(theirs).read_bytes()
