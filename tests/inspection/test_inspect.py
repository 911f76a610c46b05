"""`spamnb inspect`: what the model knows, and why a message is judged as it is."""

import os
import re

import pytest
from helpers.screens import on_a_terminal

SUMMARY = (
    "path size labels messages priors tokens occurrences vocabulary pairs journal journal_size settings view "
    "cutoffs ham_loss last_learned assessment strongest"
).split()
WHY = (
    "path verdict is_spam score probability probabilities reason why cutoffs toward against lead sum "
    "evidence ignored"
).split()
ENVELOPE = b"From a@example.org Mon Nov 15 01:02:03 2026\n"


class TestSummary:
    def test_as_text(self, spamnb):
        text = spamnb("inspect", "--top", "3").succeeds().out.decode()
        assert text.startswith(f"model: {spamnb.model}\n")
        assert {line.split()[0] for line in text.splitlines() if line} >= {"trained", "settings", "size"}
        for words in ("with 14 ham and 14 spam, about ", "set for 1 % of ham lost", "(today)"):
            assert words in text
        for words in ("split-head-body=yes", "journal     empty", "strongest tokens of spam", "█"):
            assert words in text
        assert "\x1b" not in text
        assert b"strongest" not in spamnb("inspect", "--top", "0").succeeds().out

    def test_as_json(self, spamnb):
        known = spamnb("inspect", "--top", "3", "--json").succeeds().json
        assert set(known) >= set(SUMMARY)
        assert known["labels"] == ["ham", "spam"]
        assert known["messages"] == [14, 14]
        assert known["priors"] == [0.5, 0.5]
        assert known["size"] == os.path.getsize(spamnb.model)
        assert known["settings"]["ngrams"] == 1
        assert known["cutoffs"][0] < known["cutoffs"][1]
        assert {label: len(tokens) for label, tokens in known["strongest"].items()} == {"ham": 3, "spam": 3}
        for one in known["strongest"]["spam"]:
            assert one["messages"][0] < one["messages"][1]
            assert one["weight"] > 0

    def test_a_model_of_few_messages(self, spamnb, mail, tmp_path):
        """Too few for cutoffs: that is no reason to fail, nor to speak of infinity."""
        model = str(tmp_path / "model")
        spamnb("train", "--jobs", "1", "--model", model, f"{mail.ham}/01", f"{mail.spam}/01").succeeds()
        known = spamnb("inspect", "--json", "--model", model).succeeds().json
        assert known["messages"] == [1, 1]
        assert known["cutoffs"] == [None, None]
        text = spamnb("inspect", "--top", "0", "--model", model).succeeds().out.decode()
        assert "too little mail, everything is unsure" in text
        assert "inf" not in text

    def test_the_journal_is_part_of_the_model(self, spamnb, own):
        spamnb("train", "--spam", "-", "--model", own, stdin=b"Subject: x\n\nplugh casino\n").succeeds()
        known = spamnb("inspect", "--json", "--model", own).succeeds().json
        assert (known["journal"], known["messages"]) == (1, [14, 15])
        assert known["journal_size"] > 0
        assert "1 message since" in spamnb("inspect", "--model", own).succeeds().out.decode()
        plugh, casino = (
            spamnb("inspect", "--json", "--model", own, "--token", "plugh", "casino").succeeds().json_lines
        )
        assert (plugh["messages"], casino["messages"]) == ({"ham": 0, "spam": 1}, {"ham": 0, "spam": 14})
        assert plugh["first_seen"] == plugh["last_seen"] == known["last_learned"]
        assert casino["last_seen"] == known["last_learned"]


class TestMessage:
    def test_as_text(self, spamnb, mail):
        text = spamnb("inspect", "-", stdin=mail.messages["spam"]).succeeds().out.decode()
        assert text.startswith("Spam: the text reads like spam, the headers say little.\n")
        assert text.split("\n")[1].startswith("  says “")
        assert "\n  many of its phrases are known from spam\n" in text
        assert "\nspam: score" in text
        for words in ("cutoffs: ham up to", "Subject: cheap pills", "buy[+", "url:casino.example", "the sum"):
            assert words in text
        for words in ("4 silent", "ignored", "in no message learned", "less than 2.5 nats"):
            assert words in text
        assert "\x1b" not in text

    def test_as_json(self, spamnb, mail, tmp_path):
        path = tmp_path / "message"
        path.write_bytes(mail.messages["spam"])
        why = spamnb("inspect", "--json", path).succeeds().json
        assert list(why) == WHY
        said = spamnb("classify", "--json", stdin=mail.messages["spam"]).json
        assert (why["verdict"], why["score"]) == (said["verdict"], said["score"])
        adds = [abs(one["adds"]) for one in why["evidence"]]
        assert adds == sorted(adds, reverse=True)
        little = sum(part["adds"] for part in why["sum"]["parts"] if part["name"] == "little evidence")
        assert sum(one["adds"] for one in why["evidence"]) + little == pytest.approx(why["score"])
        assert {one["where"] for one in why["evidence"]} >= {"body", "link"}
        from_stdin = spamnb("inspect", "-", "--json", stdin=mail.messages["spam"]).succeeds().json
        assert from_stdin | {"path": str(path)} == why

    def test_one_of_several(self, spamnb, mail, tmp_path):
        """The first, and how to name another; `classify` names them so."""
        box = tmp_path / "box"
        names = ("ham", "spam", "unknown")
        box.write_bytes(b"".join(ENVELOPE + mail.messages[name] + b"\n" for name in names))
        first = spamnb("inspect", box)
        assert (first.code, first.lines[0].partition(":")[0]) == (0, "Not spam")
        assert first.err.decode() == (
            f"spamnb: {box}: showing the first of several messages; for another: "
            f"spamnb inspect --model {spamnb.model} {box}:1\n"
        )
        for line in spamnb("classify", box).succeeds().lines:
            verdict, score, name = line.split("\t")
            one = spamnb("inspect", name, "--json").succeeds().json
            assert (one["verdict"], f"{one['score']:.4f}", one["path"]) == (verdict, score, name)
        folder = spamnb("inspect", mail.ham)
        assert folder.code == 0
        assert f"spamnb inspect --model {spamnb.model} {mail.ham}/01" in folder.err.decode()

    def test_nothing_known(self, spamnb, mail):
        why = spamnb("inspect", "--json", "-", stdin=mail.messages["unknown"]).succeeds().json
        assert (why["evidence"], why["verdict"]) == ([], "unsure")
        assert set(why["ignored"]["unknown"]) >= {"subject:xyzzy", "plugh"}
        text = spamnb("inspect", "-", stdin=mail.messages["unknown"]).succeeds().out.decode()
        assert "evidence: none is strong enough to be used" in text
        assert "in ham" not in text

    def test_three_labels(self, spamnb, three, mail):
        run = ("inspect", "--model", three, "-")
        why = spamnb(*run, "--json", stdin=mail.messages["work"]).succeeds().json
        assert (why["verdict"], why["toward"], why["against"]) == ("work", "spam", "work")
        assert set(why["evidence"][0]["messages"]) == {"ham", "spam", "work"}
        assert sum(part["adds"] for part in why["sum"]["parts"]) == pytest.approx(why["lead"])
        text = spamnb(*run, stdin=mail.messages["work"]).succeeds().out.decode()
        assert text.startswith("Work: text and headers are like mail you keep.\n")
        assert "in work" in text
        assert "cutoffs: not spam up to" in text
        assert "not spam │ spam" in text  # their evidence is that of all labels but spam
        assert f"; other labels must lead by {why['margin']:.4f}\n" in text

    def test_a_flood_is_bounded(self, spamnb):
        flood = b"Subject: x\n\n" + b" ".join(b"viagra%d casino" % n for n in range(20_000))
        done = spamnb("inspect", "-", stdin=flood).succeeds()
        assert len(done.lines) < 150
        assert len(done.out) < 30_000
        assert "… and more: --all" in done.lines


def test_on_a_terminal_words_have_colours_or_figures(spamnb, mail):
    text, _ = on_a_terminal(spamnb, "inspect", f"{mail.spam}/03")
    assert "\x1b[" in text
    assert "[+" not in text
    assert "viagra[+" in on_a_terminal(spamnb, "inspect", f"{mail.spam}/03", NO_COLOR="1")[0]


def test_a_model_of_one_label_is_not_trained_well(spamnb, mail, tmp_path):
    run = ("--model", tmp_path / "model")
    advice = f"only ham was learned so far; learn other mail, too: spamnb train --model {run[1]} --spam PATH"
    assert advice in spamnb("train", *run, "--ham", mail.ham).succeeds().out.decode()
    assert f"trained     {advice}\n" in spamnb("inspect", *run).succeeds().out.decode()


def test_standard_output_in_place_of_a_file(spamnb, mail, tmp_path):
    """Nothing else goes there."""
    command = ("inspect", f"{mail.spam}/03", "--html")
    spamnb(*command, tmp_path / "file").succeeds()
    assert spamnb(*command, "-").succeeds().out == (tmp_path / "file").read_bytes()


class TestTokens:
    def test_as_json(self, spamnb):
        (known,) = spamnb("inspect", "--json", "--token", "viagra").succeeds().json_lines
        assert known["known"]
        assert known["messages"] == {"ham": 0, "spam": 13}
        assert known["probabilities"]["spam"] > known["probabilities"]["ham"] > 0
        assert known["weights"]["spam"] == pytest.approx(-known["weights"]["ham"])
        assert known["counts"]
        assert known["first_seen"] == known["last_seen"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", known["last_seen"])

    @pytest.mark.parametrize(("smoothing", "ham", "spam"), [(0, 0, 13 / 14), (1, 1 / 16, 14 / 16)])
    def test_its_probability_by_another_view(self, spamnb, smoothing, ham, spam):
        view = ("--settings", f"event=bernoulli,smoothing={smoothing}")
        (known,) = spamnb("inspect", "--json", *view, "--token", "viagra").succeeds().json_lines
        assert known["probabilities"] == {"ham": ham, "spam": spam}

    def test_an_unknown_one(self, spamnb):
        """An unknown token is reported in a clear line; known ones are shown nevertheless."""
        both = spamnb("inspect", "--token", "viagra", "--token", "plugh")
        assert both.code == 65
        assert both.err == b"spamnb: plugh: no learned message has this token\n"
        assert b"92.86 %" in both.out
        output = spamnb("inspect", "--json", "--token", "plugh")
        assert (output.code, output.json_lines[0]["known"]) == (65, False)

    def test_a_pair_as_text(self, spamnb):
        text = spamnb("inspect", "--token", "Casino Bonus").succeeds().out.decode()
        assert text.startswith("casino bonus\n")
        assert "92.86 %" in text
        assert "evidence  yes" in text
        spamnb("inspect", "--token", "viagra agenda").fails(65, "viagra agenda: no learned message")
        spamnb("inspect", "--settings", "event=multinomial", "--token", "casino bonus").succeeds()


class TestSamples:
    def test_as_json_and_as_text(self, spamnb):
        run = ("inspect", "--sample", "ham", "--top", "2", "--json")
        drawn = spamnb(*run).succeeds().json
        assert drawn != spamnb(*run).succeeds().json
        assert [one["label"] for one in drawn["messages"]] == ["ham", "ham"]
        for one in drawn["messages"]:
            assert sum(one["tokens"].values()) == one["length"]
        drawn = spamnb("inspect", "--sample", "spam", "--top", "4").succeeds()
        assert drawn.out.count(b" of 4: ") == 4


class TestBadInput:
    def test_an_empty_file(self, spamnb, tmp_path):
        path = tmp_path / "empty"
        path.write_bytes(b"\n\n \n")
        spamnb("inspect", path).fails(65, str(path), "empty")
        spamnb("inspect", "-", stdin=b"").fails(65, "empty")

    def test_not_a_message(self, spamnb, tmp_path):
        spamnb("inspect", tmp_path).fails(66, "contains no message")
        path = tmp_path / "picture"
        path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0")
        spamnb("inspect", path).fails(65, "not a message")
        spamnb("inspect", spamnb.model).fails(65, "a model, not a message", "--model")
