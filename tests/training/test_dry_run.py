"""`train --dry-run` and `--verbose`: what would become of each message, and what did."""

import os
import shutil


def files_in(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_a_dry_run_says_what_training_then_does_and_changes_nothing(spamnb, mail, tmp_path):
    model = tmp_path / "folder" / "model"
    train = ("train", "--jobs", "1", "--verbose", "--model", model)
    copy = shutil.copy(f"{mail.ham}/04", tmp_path / "copy")
    mailboxes = ("--ham", mail.ham, "--spam", mail.spam, "--spam", copy)
    told = spamnb(*train, "--dry-run", *mailboxes)
    tried = told.lines
    assert f"1 message under more than one label, where only the first counts: {copy};" in told.err.decode()
    assert os.listdir(tmp_path) == ["copy"]
    done = spamnb(*train, *mailboxes).lines
    assert tried.pop() == "dry run: nothing was changed"
    assert [line for line in tried if "\t" in line] == [
        line.replace("learned\t", "would learn\t") for line in done if "\t" in line
    ]
    assert next(line for line in tried if line.startswith("ham: ")).startswith("ham: would learn ")
    assert f"conflicting\t{copy}" in done
    assert f"learned\t{mail.spam}/03" in done
    before = files_in(model.parent)
    for options, outcome in (
        (("--ham", f"{mail.spam}/03"), "would move here from another label"),
        (("--spam", f"{mail.spam}/03"), "known"),
        (("--forget", f"{mail.spam}/03"), "would forget"),
        (("--forget", f"{mail.work}/03"), "unknown"),
    ):
        assert spamnb(*train, "--dry-run", *options).succeeds().lines[0] == f"{outcome}\t{options[1]}"
    told = spamnb("train", "--dry-run", "--json", "--model", model, "--ham", "-", stdin=mail.messages["ham"])
    assert (told.succeeds().json["dry_run"], told.json["learned"]) == (True, {"ham": 1})
    assert files_in(model.parent) == before


def test_each_message_of_a_mailbox_has_its_line(spamnb, own, mail, tmp_path):
    box = tmp_path / "box"
    letters = [mail.messages["ham"], mail.messages["ham"], mail.messages["work"]]
    box.write_bytes(b"".join(b"From a@b Mon Nov 15 01:02:03 2026\n" + raw + b"\n" for raw in letters))
    lines = spamnb("train", "-v", "--jobs", "1", "--model", own, "--ham", box).succeeds().lines
    assert lines[:3] == [f"learned\t{box}:0", f"duplicate\t{box}:1", f"learned\t{box}:2"]
    learned = spamnb("train", "-v", "--model", own, "--spam", "-", stdin=mail.messages["spam"]).succeeds()
    assert learned.lines[0] == "learned\t-"
    spamnb("train", "-v", "-q", "--model", own, "--ham", box).fails(64, "--quiet")
