"""How the page looks to a screen reader, and how quick it is with much mail."""

import os
import sqlite3
import time
from importlib.resources import files
from pathlib import Path

import pytest
from helpers.programs import needs
from helpers.reviewing import remembered, served
from helpers.samples import ham, spam
from helpers.tiers import only_long

from spamnb.history.queries import History
from spamnb.history.schema import NAME

pytestmark = needs("chromedriver")
MANY = 100_000
AXE = "const done = arguments[0]; axe.run().then(found => done(found.violations))"


VIEWS = ("/", "/message/9", "/course", "/words?word=casino", "/cutoff", "/nowhere")


@pytest.mark.parametrize(
    ("scheme", "views"), [("light", VIEWS), pytest.param("dark", VIEWS[:3], marks=only_long)]
)
def test_nothing_is_in_the_way_of_a_screen_reader(shared, spamnb, eyes, scheme, views):
    script = files("axe_core_python").joinpath("axe.min.js").read_text()
    shared.renew(spamnb.model)
    page = spam(1).replace(b"Date:", b"Content-Type: text/html\nDate:").replace(b"\n\n", b"\n\n<p>")
    remembered(shared.history, shared.model, [*map(spam, range(20, 24)), *map(ham, range(20, 24)), page])
    with History.open(str(shared.history)) as history:
        history.correct([2], "ham")
    eyes.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    eyes.open(shared.page.address)
    for path in views:
        eyes.open(shared.page.base + path)
        eyes.run("document.querySelectorAll('details').forEach(each => { each.open = true })")
        eyes.run(script)
        found = eyes.driver.execute_async_script(AXE)
        assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found] == [], path


@only_long
def test_quick_with_a_hundred_thousand_records(spamnb, own, tmp_path, eyes):
    folder = remembered(tmp_path / "history", own, [spam(1)])
    multiply(folder)
    with served(spamnb, "--model", own, "--history-folder", folder) as page:
        eyes.open(page.address)
        assert len(eyes.all(".rows > li")) == 50
        for path in ("/", "/?verdict=spam", "/?text=pills", "/?order=time"):
            before = seconds_of(page.process.pid)
            for _ in range(5):
                eyes.open(page.base + path)
            assert "cheap pills" in eyes.text(".rows")
            # What it costs the page, whatever else the machine does: the rest of 200 ms is the browser's.
            assert (seconds_of(page.process.pid) - before) / 5 < 0.1, path


def seconds_of(process):
    """Seconds for which a process has had a processor."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def multiply(folder):
    """Make a hundred thousand entries of the first, all different."""
    database = sqlite3.connect(folder / NAME)
    columns = [row[1] for row in database.execute("PRAGMA table_info(entries)")]
    entry = dict(zip(columns, database.execute("SELECT * FROM entries").fetchone(), strict=True))
    labels = ("spam", "ham", "ham", "ham")
    rows = (
        {
            **entry,
            "id": number,
            "time": time.time() - 30 * number,
            "verdict": labels[number % 4] if number % 50 else "unsure",
            "subject": f"cheap pills {number}",
            "digest": number,
            "rank": 0 if not number % 50 else 1 + (labels[number % 4] != "spam"),
            "distance": number * 7 % 1000 / 100,
        }
        for number in range(2, MANY + 1)
    )
    drops = (
        "SELECT 'DROP ' || type || ' ' || name FROM sqlite_master WHERE name LIKE 'by_%' OR type = 'trigger'"
    )
    with database:  # without indices, which are made again when it is opened
        for (drop,) in database.execute(drops).fetchall():
            database.execute(drop)
        database.executemany(
            f"INSERT INTO entries VALUES ({', '.join(':' + name for name in columns)})", rows
        )
        database.execute("INSERT INTO search(search) VALUES ('rebuild')")
    database.close()
