"""`make figures`: write the figures of the pages again, from the runs on record.

First, the tables that `make verify` measured in steps that passed, on unchanged files, are stored in
bench/records/STEP.json, each with its run (command, commit, date, machine). Comments in a page name tables:

    <!-- figures: STEP -->            all tables of a step
    <!-- figures: STEP: A; B -->      those of these titles (above a table, or first in it); * is any text
    <!-- figures: summary -->         the rows of SUMMARY
    <!-- figures: lead -->            the sentences of LEAD
    <!-- end of figures -->

and where a page shows what a command prints, on a model of the mail in corpora/spamassassin:

    <!-- output: COMMAND -->
    <!-- end of output -->
"""

from __future__ import annotations

import json
import lzma
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from tables import table
from verify import PASSED, STEPS, log_of, outcomes

ROOT = Path(__file__).parent.parent
RECORDS = ROOT / "bench" / "records"
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("bench/*.md"), *ROOT.glob("docs/**/*.md")]
BLOCK = re.compile(r"(<!-- figures: (?P<what>.+?) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
OUTPUT = re.compile(r"(<!-- output: (?P<command>.+?) -->\n).*?(<!-- end of output -->)", re.DOTALL)
CORPUS = ROOT / "corpora" / "spamassassin"
MAIL = {"ham.mbox": ("ham", "hard-ham"), "spam.mbox": ("spam",)}
MAX_LINE = 130  # characters of what a command prints
WHEN = "1795046400"  # the day that examples are of
Table = dict[str, Any]  # run, columns, rows

HALF = "accuracy: spamassassin, half"
WEEK = "verdicts: spamassassin, the first week"
SHORT = "verdicts: short mail of strangers"
OURS, THEIRS, FIRST = "spamnb", "bogofilter", "spamassassin"
LOST, CAUGHT = "ham lost %", "spam caught %"
ONE = "one message, against bogofilter"
TRAIN = "train 6,046 messages, all cores, against bogofilter"
CLASSIFY = "classify 6,046 messages in bulk, against bogofilter"
# What is measured; the table; of spamnb and of bogofilter, how the row begins, and the column.
SUMMARY = (
    ("pairs of a ham and a spam in the wrong order, %", HALF, (OURS, "(1-AUC)%"), (THEIRS, "(1-AUC)%")),
    (
        "spam missed if 0.1 % of the ham may be lost, %",
        HALF,
        (OURS, "FN@0.1 %"),
        (THEIRS, "FN@0.1 %"),
    ),
    ("at the defaults: F1 of spam (1 is perfect)", HALF, (OURS, "F1"), (THEIRS, "F1")),
    ("… ham lost, %", HALF, (OURS, "ham lost %"), (THEIRS, "ham lost %")),
    ("all mail that is unsure, %", HALF, (OURS, "unsure %"), (THEIRS, "unsure %")),
    ("100 ham and 100 spam learned: ham lost, %", WEEK, (f"100 {OURS}", LOST), (f"100 {THEIRS}", LOST)),
    ("… spam caught, %", WEEK, (f"100 {OURS}", CAUGHT), (f"100 {THEIRS}", CAUGHT)),
    (
        "all learned, 300 short ham messages of strangers judged: ham lost, %",
        SHORT,
        (f"{FIRST} {OURS}", LOST),
        (f"{FIRST} {THEIRS}", LOST),
    ),
    ("judging one message in a process of its own: time", "bench", (ONE, OURS), (ONE, "beside")),
    (
        "… memory of that process",
        "bench",
        ("peak memory of one message, 50,000", OURS),
        ("… of one message, bogofilter", OURS),
    ),
    ("training, all cores (bogofilter: one)", "bench", (TRAIN, OURS), (TRAIN, "beside")),
    ("classification in bulk, all cores", "bench", (CLASSIFY, OURS), (CLASSIFY, "beside")),
)

# A sentence, and which row of SUMMARY has its figures, ours and theirs.
LEAD = (
    ("**Accurate**: a good message scores higher than a spam in only {} % of pairs; bogofilter: {} %.", 0),
    ("**Decisive**: {} % of the mail is left undecided; with bogofilter, {} %.", 4),
    ("**Fast**: it learns {}, bogofilter {}.", 10),
)


def tables_of(log: str) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Yield title, columns and rows of each Markdown table in what a program printed."""
    log = log.replace("compiling the core\n", "")  # between the rows of `make ablation`
    heading, used = "", set()
    for block in re.findall(r"^## .*$|(?:^\|.*\n?)+", log, re.MULTILINE):
        if block.startswith("## "):
            heading = re.split(r": |,? \(", block[3:])[0].strip()
            continue
        columns, _, *rows = (
            [cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()
        )
        title = heading or rows[0][0]
        title = f"{title}, {columns[0]}" if title in used else title
        used.add(title)
        yield title, columns, [row for row in rows if len(row) == len(columns)]


def take(step: str, log: str, run: dict[str, str]) -> None:
    """Store the tables that a run printed, unless newer ones are stored."""
    notes = [
        line for line in log[log.rfind("\n|") :].splitlines()[2:] if line.strip() not in ("", run["machine"])
    ]
    run = run | {"notes": "; ".join(note.rstrip(".") for note in notes)}
    tables = recorded(step)
    for title, columns, rows in tables_of(log):
        if title not in tables or tables[title]["run"]["date"] < run["date"]:
            tables[title] = {"run": run, "columns": columns, "rows": rows}
    if tables:
        (RECORDS / f"{step}.json").write_text(json.dumps(tables, indent=1, ensure_ascii=False) + "\n")


def recorded(step: str) -> dict[str, Table]:
    path = RECORDS / f"{step}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def chosen(what: str) -> dict[str, Table]:
    """Return the tables that a page names, by title; raise KeyError if no stored run has them."""
    step, _, patterns = what.partition(": ")
    tables = recorded(step)
    found: dict[str, Table] = {}
    for pattern in (patterns or "*").split("; "):
        matching = {title: one for title, one in tables.items() if fnmatchcase(title, pattern)}
        if not matching:
            raise KeyError(f"no run on record has {what}: make verify ARGS={step}")
        found |= matching
    return found


def cell(what: str, begins: str, column: str) -> str:
    """Return the figure in a column of the first row that begins with `begins`, without its spread."""
    for one in chosen(what).values():
        for row in one["rows"] if column in one["columns"] else ():
            if " ".join(row).startswith(begins):
                figure: str = row[one["columns"].index(column)]
                return figure.partition(" ±")[0]
    raise KeyError(f"no run on record has `{what}`, {begins}, {column}")


def block(what: str) -> str:
    """Return the text that belongs between two comments: tables, and a line on each run that made them."""
    if what == "lead":
        rows = [(cell(place, *ours), cell(place, *theirs)) for _, place, ours, theirs in SUMMARY]
        return "".join(f"- {sentence.format(*rows[row])}\n" for sentence, row in LEAD)
    if what == "summary":  # the pages of the tables have their runs
        led = [row for _, row in LEAD]
        found = [
            [name, cell(place, *ours), cell(place, *theirs)]
            for number, (name, place, ours, theirs) in enumerate(SUMMARY)
            if number not in led
        ]
        return table(["", OURS, THEIRS], found) + "\n"
    tables = chosen(what)
    titled = len(tables) > 1 and ": " in what
    texts = [f"{title}:\n\n" * titled + table(one["columns"], one["rows"]) for title, one in tables.items()]
    runs = dict.fromkeys(said(one["run"]) for one in tables.values())
    return "\n\n".join((*texts, *runs)) + "\n"


def said(run: dict[str, str]) -> str:
    """Return a sentence that says how a run was made: command, date, commit and machine."""
    where = "; ".join(filter(None, (run["machine"], run["notes"])))
    return f"`{run['command']}`, {run['date'][:10]}, commit {run['commit'][:10]}: {where}."


def written(text: str) -> str:
    """Return a page with figures from the records, and with the current output of its commands."""
    text = BLOCK.sub(lambda found: found[1] + block(found["what"]) + found[3], text)
    return OUTPUT.sub(lambda found: f"{found[1]}\n{printed(found['command'])}\n{found[3]}", text)


@cache
def printed(command: str) -> str:
    """Run a command on a model of two mailboxes; return the command and what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        for name, parts in MAIL.items():
            mail = b"".join(lzma.decompress((CORPUS / f"{part}.mbox.xz").read_bytes()) for part in parts)
            Path(folder, name).write_bytes(mail)
        environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "LC_ALL": "C.UTF-8",
            "HOME": folder,
            "SOURCE_DATE_EPOCH": WHEN,
            "SPAMNB_MODEL": "model.msgpack",
        }

        def run(line: str) -> str:
            return subprocess.check_output(line, shell=True, cwd=folder, env=environment, text=True)

        run("spamnb train ham.mbox spam.mbox 2>&1")
        lines = [f"$ {command}", *run(command).rstrip().splitlines()]
    cut = (line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…" for line in lines)
    return "".join(f"    {line}".rstrip() + "\n" for line in cut)


def main() -> None:
    found = outcomes()
    for step in STEPS:
        outcome = found.get(step.name)
        usable = outcome and outcome.is_clean and (outcome.result == PASSED or "noisy" in outcome.reported)
        if step.measures and outcome and usable:  # noise is named below the figures
            run = {"command": outcome.command, "commit": outcome.commit, "date": outcome.began}
            take(step.name, log_of(step.name).read_text(), run | {"machine": outcome.machine})
    for page in PAGES:
        before = page.read_text()
        after = written(before)
        if after != before:
            page.write_text(after)
            print(f"{page.relative_to(ROOT)}: new figures")


if __name__ == "__main__":
    main()
