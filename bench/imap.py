"""Training on the folders of an IMAP server of this machine, beside training on the same Maildir."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from clock import Weather, elapsed, race
from peers import ENVIRONMENT, SPAMNB, Command
from rows import COLUMNS, Row, machine, seconds
from tables import save, table

from corpora import Corpus

MESSAGES = 10_000
TURNS = 3
ACCOUNT = """[account.home]
host = "127.0.0.1"
port = {port}
tls = "none"
user = "{user}"
password_file = "{folder}/password"
ham = ["Archive"]
junk = "Junk"
"""


def main() -> int:
    asked = options()
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from helpers.imap_servers import DovecotImap  # type: ignore[import-not-found]

    weather = Weather()
    weather.look()
    with tempfile.TemporaryDirectory() as folder, DovecotImap() as server:
        server.wipe()
        corpus = Corpus.spamassassin().grown(asked.messages)
        server.fill("Archive", corpus.ham)
        server.fill("Junk", corpus.spam)
        server.contents()  # it has met all of them once
        row = measured(folder, server, asked.messages)
    weather.look()
    notes = [machine(), *weather.lines()]
    print("\n".join((table(COLUMNS, [row.cells()]), "", *notes)))
    save(asked.json, {"rows": [row.cells()], "notes": notes})
    return 0


def measured(folder: str, server: Any, messages: int) -> Row:
    model, state = (os.path.join(folder, name) for name in ("model", "state"))
    config = Path(folder, "spamnb", "imap.toml")
    config.parent.mkdir()
    Path(folder, "password").write_text(server.password + "\n")
    config.write_text(ACCOUNT.format(port=server.port, user=server.user, folder=folder))
    ENVIRONMENT.update(XDG_STATE_HOME=state, XDG_CONFIG_HOME=folder, SPAMNB_MODEL=model)

    def from_server() -> float:
        shutil.rmtree(state, ignore_errors=True)
        Path(model).unlink(missing_ok=True)
        return elapsed(Command([SPAMNB, "imap", "train"]))

    def from_disk() -> float:
        ham, spam = (str(server.path(name)) for name in ("Archive", "Junk"))
        return elapsed(Command([SPAMNB, "train", "--fresh", "--model", model, "--ham", ham, "--spam", spam]))

    times = race({"server": from_server, "disk": from_disk}, TURNS)
    ratio = times["disk"].median / times["server"].median
    name = f"train on {messages:,} messages of a local Dovecot, beside the same Maildir"
    return Row(name, seconds(times["server"]), seconds(times["disk"]), ratio, at_least=0.5)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=MESSAGES, help="to train on")
    parser.add_argument("--json", help="a file for the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
