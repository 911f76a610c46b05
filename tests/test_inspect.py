"""`spamnb inspect`: what the model knows, and why a message is judged as it is."""

import os

import pytest

SUMMARY = ("path size labels messages tokens occurrences vocabulary journal settings cutoffs telling").split()


def test_summary(spamnb):
    text = spamnb("inspect", "--top", "3").succeeds().out.decode()
    assert spamnb.model in text
    assert "14" in text
    assert "cutoffs" in text
    assert "now" in text
    known = spamnb("inspect", "--top", "3", "--json").succeeds().json
    assert set(known) >= set(SUMMARY)
    assert known["labels"] == ["ham", "spam"]
    assert known["messages"] == [14, 14]
    assert known["size"] == os.path.getsize(spamnb.model)
    assert known["settings"]["ngrams"] == 1
    assert known["cutoffs"][0] < known["cutoffs"][1]
    assert {label: len(tokens) for label, tokens in known["telling"].items()} == {"ham": 3, "spam": 3}
    for one in known["telling"]["spam"]:
        assert one["messages"][0] < one["messages"][1]
        assert one["weight"] > 0


def test_top_zero(spamnb):
    assert spamnb("inspect", "--top", "0", "--json").succeeds().json["telling"] == {"ham": [], "spam": []}
    assert b"telling" not in spamnb("inspect", "--top", "0").succeeds().out


def test_a_model_of_few_messages(spamnb, mail, tmp_path):
    """Too few for cutoffs: that is no reason to fail, nor to speak of infinity."""
    model = str(tmp_path / "model")
    spamnb("train", "--jobs", "1", "--model", model, f"{mail.ham}/01", f"{mail.spam}/01").succeeds()
    known = spamnb("inspect", "--json", "--model", model).succeeds().json
    assert known["messages"] == [1, 1]
    assert known["cutoffs"] == [None, None]
    text = spamnb("inspect", "--top", "0", "--model", model).succeeds().out.decode()
    assert "too little mail for cutoffs: all is unsure" in text
    assert "inf" not in text


def test_tokens(spamnb):
    known = spamnb("inspect", "--json", "--token", "viagra", "--token", "plugh").succeeds().json
    assert known[0]["known"]
    assert known[0]["messages"] == {"ham": 0, "spam": 13}
    assert known[0]["probabilities"]["spam"] > known[0]["probabilities"]["ham"] > 0
    assert known[1] == {
        "token": "plugh",
        "known": False,
        "messages": {"ham": 0, "spam": 0},
        "occurrences": {"ham": 0, "spam": 0},
        "probabilities": None,
    }
    text = spamnb("inspect", "--token", "viagra", "--token", "plugh").succeeds().out.decode()
    assert "13" in text
    assert "unknown" in text


def test_a_token_that_a_terminal_would_obey(spamnb):
    out = spamnb("inspect", "--token", "a\x1b[31m\nb").succeeds().out
    assert b"\x1b" not in out
    assert b"a" in out


def test_a_word_as_it_is_written(spamnb):
    """People ask for Viagra; the tokenizer folds case. What it does not know is called as it was."""
    asked = ("Viagra", "Subject:Cheap", "Plugh")
    known = spamnb("inspect", "--json", *(f"--token={word}" for word in asked)).succeeds().json
    assert [one["token"] for one in known] == ["viagra", "subject:cheap", "Plugh"]
    assert [one["known"] for one in known] == [True, True, False]


def test_why(spamnb, mail, tmp_path):
    path = tmp_path / "message"
    path.write_bytes(mail.messages["spam"])
    text = spamnb("inspect", path).succeeds().out.decode()
    assert text.startswith("spam: score")
    assert "casino" in text
    why = spamnb("inspect", "--json", path).succeeds().json
    assert list(why) == ["path", "verdict", "score", "probability", "probabilities", "evidence"]
    said = spamnb("classify", "--json", stdin=mail.messages["spam"]).json
    assert (why["verdict"], why["score"]) == (said["verdict"], said["score"])
    weights = [abs(one["weight"]) for one in why["evidence"]]
    assert weights == sorted(weights, reverse=True)
    from_stdin = spamnb("inspect", "-", "--json", stdin=mail.messages["spam"]).succeeds().json
    assert from_stdin | {"path": str(path)} == why


def test_one_of_several(spamnb, mail, tmp_path):
    """The first, and how to name another; `classify` names them so."""
    box = tmp_path / "box"
    envelope = b"From a@example.org Mon Nov 15 01:02:03 2026\n"
    box.write_bytes(b"".join(envelope + mail.messages[name] + b"\n" for name in ("ham", "spam", "unknown")))
    first = spamnb("inspect", box)
    assert (first.code, first.lines[0].partition(":")[0]) == (0, "ham")
    assert first.err.decode() == (
        f"spamnb: {box}: the first of several messages; for another: spamnb inspect {box}:1\n"
    )
    for line in spamnb("classify", box).succeeds().lines:
        verdict, score, name = line.split("\t")
        one = spamnb("inspect", name, "--json").succeeds().json
        assert (one["verdict"], f"{one['score']:.4f}", one["path"]) == (verdict, score, name)
    spamnb("inspect", f"{box}:3").fails(66, "no such message")
    spamnb("inspect", f"{box}:x").fails(66, "no such file")
    folder = spamnb("inspect", mail.ham)
    assert folder.code == 0
    assert f"spamnb inspect {mail.ham}/01" in folder.err.decode()


def test_a_file_whose_name_ends_like_a_number(spamnb, mail, tmp_path):
    """As those of Maildirs may."""
    (tmp_path / "message").write_bytes(mail.messages["ham"])
    (tmp_path / "message:0").write_bytes(mail.messages["spam"])
    assert spamnb("inspect", tmp_path / "message:0").succeeds().lines[0].startswith("spam")


def test_how_many_to_show(spamnb, mail):
    out = spamnb("inspect", "-", "--top", "2", stdin=mail.messages["spam"]).succeeds().out.decode()
    assert out.count("█") > 0
    assert "(2 of " in out


def test_nothing_known(spamnb, mail):
    assert spamnb("inspect", "--json", "-", stdin=mail.messages["unknown"]).succeeds().json["evidence"] == []
    spamnb("inspect", "-", stdin=b"").succeeds()


@pytest.mark.parametrize("options", ["--event bernoulli --smoothing 0", "--event gaussian", "--numbers"])
def test_other_views(spamnb, mail, options):
    """Weights may be infinite there; JSON has no such number."""
    why = spamnb("inspect", "--json", "-", *options.split(), stdin=mail.messages["spam"]).succeeds().json
    assert why["evidence"]


def test_three_labels(spamnb, three, mail):
    known = spamnb("inspect", "--json", "--model", three).succeeds().json
    assert known["labels"] == ["ham", "spam", "work"]
    assert known["telling"]["work"][0]["messages"][2] == 14
    why = spamnb("inspect", "--json", "--model", three, "-", stdin=mail.messages["work"]).succeeds().json
    assert why["verdict"] == "work"
    assert set(why["evidence"][0]["messages"]) == {"ham", "spam", "work"}
    text = spamnb("inspect", "--model", three, "-", stdin=mail.messages["work"]).succeeds().out.decode()
    assert text.startswith("work: score")
    assert "in work" in text


def test_the_journal_is_part_of_the_model(spamnb, own):
    spamnb("train", "--spam", "-", "--model", own, stdin=b"Subject: x\n\nplugh\n").succeeds()
    known = spamnb("inspect", "--json", "--model", own).succeeds().json
    assert (known["journal"], known["messages"]) == (1, [14, 15])
    assert spamnb("inspect", "--json", "--model", own, "--token", "plugh").json[0]["messages"]["spam"] == 1


def test_usage(spamnb):
    spamnb("inspect", "--token", "a", "-", stdin=b"").fails(64, "--token")
    spamnb("inspect", "--top", "-1").fails(64, "--top")
    spamnb("inspect", "/nosuch").fails(66, "/nosuch")
    spamnb("inspect", "--model", "/nosuch").fails(75, "/nosuch", "spamnb train")


def test_a_damaged_column_is_noticed(spamnb, own):
    """A delivery reads too little of the file to see it; here all of it is read."""
    with open(own, "r+b") as file:
        file.seek(os.path.getsize(own) // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    spamnb("inspect", "--model", own).fails(65, own, "damaged")
