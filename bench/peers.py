"""spamnb and the other filters that are measured: how to train each, score many messages, and judge one.

A filter is a class with command lines and a reader of their output, for measuring both accuracy and speed.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from glob import glob
from importlib import metadata
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from corpora import Laid

Array = np.ndarray[Any, Any]

HERE = os.path.dirname(os.path.abspath(__file__))
SPAMNB = os.path.join(os.path.dirname(sys.executable), "spamnb")
HAM, SPAM, UNSURE = 0, 1, -1
# Nothing of the caller's Python settings, and one language for all: as a mail system starts a filter.
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LC_", "SPAMNB"))
} | {"LC_ALL": "C.UTF-8"}


class Failed(Exception):
    """Raised if another filter failed."""


@dataclass(frozen=True)
class Command:
    words: Sequence[str]
    stdin: bytes | str = b""  # bytes, or the path of a file
    good_exits: tuple[int, ...] = (0,)

    def start(self, stdout: int = subprocess.DEVNULL, own_group: bool = False) -> subprocess.Popen[bytes]:
        """Start the process with its input in a file: with a pipe, we would have to write while it runs."""
        with open(self.stdin, "rb") if isinstance(self.stdin, str) else tempfile.TemporaryFile() as source:
            if isinstance(self.stdin, bytes):
                source.write(self.stdin)
                source.seek(0)
            return subprocess.Popen(
                self.words,
                stdin=source,
                stdout=stdout,
                stderr=subprocess.PIPE,
                env=ENVIRONMENT,
                start_new_session=own_group,
            )

    def run(self) -> bytes:
        process = self.start(subprocess.PIPE)
        output, errors = process.communicate()
        if process.returncode not in self.good_exits:
            last = errors.decode(errors="replace").strip().splitlines()[-1:]
            raise Failed(f"{self.words[0]} ended with {process.returncode}: {''.join(last)}")
        return output


@dataclass(frozen=True)
class Judged:
    """Results for each message, in the requested order; a probability is None where it has no meaning."""

    score: Array
    verdict: Array  # HAM, SPAM or UNSURE
    probability: Array | None = None

    @classmethod
    def by_cutoffs(cls, scores: Iterable[float], spam: float, ham: float | None = None) -> Judged:
        """Return verdicts: spam from score `spam` on, ham up to `ham` (None: below `spam`), others unsure."""
        score = np.array(list(scores), float)
        verdict = np.where(score >= spam, SPAM, HAM if ham is None else UNSURE)
        if ham is not None:
            verdict[score <= ham] = HAM
        return cls(score, verdict)


class Peer:
    name: ClassVar[str]
    programs: ClassVar[tuple[str, ...]]  # what must be installed
    package: ClassVar[str] = ""  # of Debian, if it is not named as the program

    def __init__(self, folder: str) -> None:
        os.makedirs(folder, exist_ok=True)
        self.folder = folder

    @classmethod
    def missing(cls) -> str | None:
        """Return the name of a program that is missing, or None."""
        return next((name for name in cls.programs if shutil.which(name) is None), None)

    @classmethod
    def version(cls) -> str:
        words = ["dpkg-query", "-W", "-f", "${Version}", cls.package or cls.programs[0]]
        return Command(words).run().decode()

    def at(self, *names: str) -> str:
        return os.path.join(self.folder, *names)

    def training(self, mail: Laid) -> list[Command]:
        """Return the commands that train the filter, beginning with an empty model."""
        raise NotImplementedError

    def scoring(self, paths: Sequence[str]) -> Command:
        """Return the command that scores message files."""
        raise NotImplementedError

    def read(self, output: bytes, paths: Sequence[str]) -> Judged:
        """Return the results in the output of `scoring`."""
        raise NotImplementedError

    def one(self, message: str) -> Command:
        """Return the command that a mail system runs to judge one message on standard input."""
        raise NotImplementedError

    def train(self, mail: Laid) -> None:
        for command in self.training(mail):
            command.run()

    def judge(self, paths: Sequence[str]) -> Judged:
        judged = self.read(self.scoring(paths).run(), paths)
        if len(judged.score) != len(paths):
            raise Failed(f"{self.name} scored {len(judged.score)} of {len(paths)} messages")
        return judged

    def size(self) -> int:
        """Return the size of the model in bytes."""
        found = (os.path.join(top, name) for top, _, names in os.walk(self.folder) for name in names)
        return sum(os.path.getsize(path) for path in found)


class Spamnb(Peer):
    name = "spamnb"
    programs = (SPAMNB,)
    jobs: int | None = None

    @classmethod
    def version(cls) -> str:
        return Command([SPAMNB, "--version"]).run().decode().split()[1]

    @property
    def model(self) -> str:
        return self.at("model.msgpack")

    @property
    def _jobs(self) -> list[str]:
        return ["--jobs", str(self.jobs)] if self.jobs else []

    def training(self, mail: Laid) -> list[Command]:
        return [self.training_of(mail.mbox("ham"), mail.mbox("spam"))]

    def training_of(self, ham: str, spam: str) -> Command:
        return Command([SPAMNB, "train", "--fresh", "--model", self.model, *self._jobs, ham, spam])

    def scoring(self, paths: Sequence[str]) -> Command:
        # By folder, or one path each: what was asked for is picked from the answers.
        folders = sorted({os.path.dirname(path) for path in paths})
        return Command([SPAMNB, "classify", "--json", "--model", self.model, *self._jobs, *folders])

    def read(self, output: bytes, paths: Sequence[str]) -> Judged:
        said = {line["path"]: line for line in map(json.loads, output.splitlines())}
        # An empty message has no line: nothing to judge, so unsure.
        lines = [said.get(path, {"score": 0.0, "verdict": "unsure", "probability": 0.5}) for path in paths]
        return Judged(
            np.array([line["score"] for line in lines]),
            np.array([{"ham": HAM, "spam": SPAM}.get(line["verdict"], UNSURE) for line in lines]),
            np.array([line["probability"] for line in lines]),
        )

    def one(self, message: str) -> Command:
        return Command([SPAMNB, "classify", "--model", self.model], message)

    def learn(self, message: str) -> Command:
        return Command([SPAMNB, "train", "--spam", "-", "--model", self.model], message)

    def size(self) -> int:
        return os.path.getsize(self.model)


class Bogofilter(Peer):
    name = "bogofilter"
    programs = ("bogofilter",)

    @property
    def _call(self) -> list[str]:
        return ["bogofilter", "-C", "-d", self.folder]

    def training(self, mail: Laid) -> list[Command]:
        return [
            Command([*self._call, flag, "-M", "-I", mail.mbox(label)])
            for flag, label in (("-n", "ham"), ("-s", "spam"))
        ]

    def scoring(self, paths: Sequence[str]) -> Command:
        # -TT prints all 16 digits, -T six: a quarter more of the spam would share the score 1.
        return Command([*self._call, "-b", "-TT"], listing(paths), good_exits=(0, 1, 2))

    def read(self, output: bytes, _paths: Sequence[str]) -> Judged:
        scores = (float(line.rsplit(b" ", 1)[1]) for line in output.splitlines())
        return Judged.by_cutoffs(scores, spam=0.99, ham=0.45)  # its defaults: as -T says S, U, H

    def one(self, message: str) -> Command:
        return Command(self._call, message, good_exits=(0, 1, 2))


class Spamprobe(Peer):
    name = "spamprobe"
    programs = ("spamprobe",)

    @property
    def _call(self) -> list[str]:
        return ["spamprobe", "-d", f"hash:{self.folder}"]

    def training(self, mail: Laid) -> list[Command]:
        return [
            Command([*self._call, "-c", word, mail.mbox(label)])
            for word, label in (("good", "ham"), ("spam", "spam"))
        ]

    def scoring(self, paths: Sequence[str]) -> Command:
        return Command([*self._call, "-M", "score", *paths])

    def read(self, output: bytes, _paths: Sequence[str]) -> Judged:
        lines = [line.split() for line in output.splitlines()]
        score = np.array([float(line[1]) for line in lines])
        return Judged(score, np.array([SPAM if line[0] == b"SPAM" else HAM for line in lines]))

    def one(self, message: str) -> Command:
        return Command([*self._call, "score"], message)


class Ifile(Peer):
    name = "ifile"
    programs = ("ifile",)

    @property
    def _call(self) -> list[str]:
        return ["ifile", "-b", self.at("ifile.db")]

    def training(self, mail: Laid) -> list[Command]:
        return [
            Command([*self._call, "-i", label, *paths_in(mail.files(label))]) for label in ("ham", "spam")
        ]

    def scoring(self, paths: Sequence[str]) -> Command:
        return Command([*self._call, "-q", *paths])

    def read(self, output: bytes, _paths: Sequence[str]) -> Judged:
        answers = output.decode().split("---------\n")[:-1]
        ratings = [dict(line.split() for line in answer.splitlines()) for answer in answers]
        return Judged.by_cutoffs((float(r["spam"]) - float(r["ham"]) for r in ratings), spam=1e-12)

    def one(self, message: str) -> Command:
        return Command([*self._call, "-q"], message)


class Bsfilter(Peer):
    name = "bsfilter"
    programs = ("bsfilter",)

    @property
    def _call(self) -> list[str]:
        return ["bsfilter", "--homedir", self.folder]

    def training(self, mail: Laid) -> list[Command]:
        # The update apart: together with -s it weighs the tokens of the spam alone.
        return [
            Command([*self._call, "-c", "--mbox", mail.mbox("ham")]),
            Command([*self._call, "-s", "--mbox", mail.mbox("spam")]),
            Command([*self._call, "-u"]),
        ]

    def scoring(self, paths: Sequence[str]) -> Command:
        return Command([*self._call, *paths], good_exits=(0, 1))

    def read(self, output: bytes, paths: Sequence[str]) -> Judged:
        found = re.findall(rb"^combined probability (.+) \d+ ([\d.]+)$", output, re.MULTILINE)
        said = {os.fsdecode(path): float(score) for path, score in found}
        return Judged.by_cutoffs((said.get(path, 0.5) for path in paths), spam=0.95)  # its default

    def one(self, message: str) -> Command:
        return Command(self._call, message, good_exits=(0, 1))


class SpamAssassin(Peer):
    """SpamAssassin's Bayes classifier alone: no rules, no network, no expiry, no automatic learning."""

    name = "SpamAssassin Bayes"
    programs = ("sa-learn", "perl")
    package = "spamassassin"
    RULES = "/usr/share/spamassassin"
    PLUGINS = "loadplugin Mail::SpamAssassin::Plugin::Bayes\nloadplugin Mail::SpamAssassin::Plugin::Check\n"
    SETTINGS = """\
use_bayes 1
bayes_auto_learn 0
bayes_auto_expire 0
bayes_path {folder}/bayes
body BAYES eval:check_bayes('0.00', '1.00')
score BAYES 1
"""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        os.makedirs(self.at("conf"), exist_ok=True)
        for name, text in (
            ("bayes.pre", self.PLUGINS),
            ("bayes.cf", self.SETTINGS.format(folder=self.folder)),
            ("prefs", ""),
        ):
            with open(self.at("conf", name), "w", encoding="ascii") as file:
                file.write(text)
        for name in ("20_aux_tlds.cf", "60_bayes_stopwords.cf"):  # which words are domains, which say nothing
            rules = os.path.join(self.RULES, name)
            if os.path.exists(rules):
                shutil.copy(rules, self.at("conf", name))

    def training(self, mail: Laid) -> list[Command]:
        conf = self.at("conf")
        call = ["sa-learn", "-L", "-C", conf, f"--siteconfigpath={conf}", "-p", self.at("conf", "prefs")]
        return [
            Command([*call, "--max-size", "0", f"--{label}", "--mbox", mail.mbox(label)])
            for label in ("ham", "spam")
        ]

    def scoring(self, paths: Sequence[str]) -> Command:
        return Command(["perl", os.path.join(HERE, "spamassassin.pl"), self.at("conf")], listing(paths))

    def read(self, output: bytes, _paths: Sequence[str]) -> Judged:
        # It has no verdict by Bayes alone. Its rules BAYES_80 and above count for spam, those below
        # BAYES_40 for ham, and the ones between are taken for unsure.
        return Judged.by_cutoffs(map(float, output.split()), spam=0.8, ham=0.4)

    def one(self, message: str) -> Command:
        conf = self.at("conf")
        call = ["spamassassin", "-L", "-C", conf, f"--siteconfigpath={conf}", "-p", self.at("conf", "prefs")]
        return Command(call, message)

    def size(self) -> int:
        return sum(os.path.getsize(self.at(name)) for name in ("bayes_toks", "bayes_seen"))


class Crm114(Peer):
    """CRM114: trained by mailtrainer. mailreaver judges one message per process, as it cannot judge many."""

    name = "CRM114"
    programs = ("crm",)
    package = "crm114"
    SCRIPTS = "/usr/share/crm114"
    CHANGES: ClassVar[dict[str, str]] = {
        "spw": "x",
        "log_to_allmail.txt": "no",
        "text_cache": "",
        "log_rejections": "no",
    }
    STATUS = re.compile(rb"^X-CRM114-Status: (\w+) +\( +(-?[\d.]+) +\)", re.MULTILINE)

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        for name in os.listdir(self.SCRIPTS):
            shutil.copy(os.path.join(self.SCRIPTS, name), self.at(name))
        with open(self.at("mailfilter.cf"), encoding="latin-1") as file:
            settings = file.read()
        for name, value in self.CHANGES.items():
            settings = re.sub(rf"(?m)^:{re.escape(name)}:.*$", f":{name}: /{value}/", settings)
        with open(self.at("mailfilter.cf"), "w", encoding="latin-1") as file:
            file.write(settings)
        for name in ("rewrites", "priolist", "whitelist", "blacklist"):
            open(self.at(f"{name}.mfp"), "w").close()

    def _call(self, script: str) -> list[str]:
        return ["crm", self.at(script), f"--fileprefix={self.folder}/"]

    def training(self, mail: Laid) -> list[Command]:
        folders = [f"--spam={mail.files('spam')}/", f"--good={mail.files('ham')}/"]
        return [Command([*self._call("mailtrainer.crm"), *folders])]

    def judge(self, paths: Sequence[str]) -> Judged:
        """Run a process for each message, on all cores; a message without an answer is unsure."""

        def judged(path: str) -> tuple[int, float]:
            try:
                found = self.STATUS.search(self.one(path).run())
            except Failed:
                found = None
            if not found:
                return UNSURE, 0.0
            return {b"SPAM": SPAM, b"GOOD": HAM}.get(found[1], UNSURE), -float(found[2])

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            answers = list(pool.map(judged, paths))
        return Judged(
            np.array([score for _, score in answers]), np.array([verdict for verdict, _ in answers])
        )

    def one(self, message: str) -> Command:
        return Command(self._call("mailreaver.crm"), message)

    def size(self) -> int:
        return sum(os.path.getsize(self.at(name)) for name in ("spam.css", "nonspam.css"))


class ScikitLearn(Peer):
    """A filter as in the tutorials of scikit-learn; see vectors.py."""

    programs = ()
    kind: ClassVar[str]

    @classmethod
    def missing(cls) -> str | None:
        from importlib.util import find_spec

        return None if find_spec("sklearn") else "scikit-learn"

    @classmethod
    def version(cls) -> str:
        return metadata.version("scikit-learn")

    @property
    def _call(self) -> list[str]:
        return [sys.executable, os.path.join(HERE, "vectors.py")]

    def training(self, mail: Laid) -> list[Command]:
        folders = [mail.files("ham"), mail.files("spam")]
        return [Command([*self._call, "train", self.kind, self.at("model.pickle"), *folders])]

    def scoring(self, paths: Sequence[str]) -> Command:
        return Command([*self._call, "score", self.at("model.pickle")], listing(paths))

    def read(self, output: bytes, _paths: Sequence[str]) -> Judged:
        return Judged.by_cutoffs(map(float, output.split()), spam=1e-12)

    def one(self, message: str) -> Command:
        return Command([*self._call, "score", self.at("model.pickle")], listing([message]))


class MultinomialNB(ScikitLearn):
    name = "sklearn MultinomialNB"
    kind = "multinomial"


class SGD(ScikitLearn):
    name = "sklearn SGD"
    kind = "sgd"


class Terminator(Peer):
    """Terminator: eight online learners over runs of four bytes; its source needs Kyoto Cabinet."""

    name = "terminator"
    programs = ("g++",)
    SOURCE = os.environ.get("TERMINATOR", "/opt/terminator")

    @classmethod
    def missing(cls) -> str | None:
        return super().missing() or (None if os.path.isdir(cls.SOURCE) else f"no source in {cls.SOURCE}")

    @classmethod
    def version(cls) -> str:
        heads = glob(os.path.join(cls.SOURCE, ".git", "refs", "heads", "*"))
        return Command(["head", "-c10", *heads[:1]]).run().decode() if heads else "of unknown commit"

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.program = f"{folder}.program"  # beside the folder, whose size is that of what was learned
        made = f"g++ -O2 -w -I{self.SOURCE}/include -I{self.SOURCE}/src -o {self.program}".split()
        parts = [os.path.join(HERE, "terminator.cc"), *glob(f"{self.SOURCE}/src/terminator*.cc")]
        Command([*made, *parts, "-lkyotocabinet"]).run()

    def training(self, mail: Laid) -> list[Command]:
        """Return the command for one pass over the mail, in random order, as the last lessons weigh most."""
        lines = [f"{label} {path}\n" for label in ("ham", "spam") for path in paths_in(mail.files(label))]
        random.Random(1).shuffle(lines)
        return [Command([self.program, self.at("model.kch")], "".join(lines).encode())]

    def scoring(self, paths: Sequence[str]) -> Command:
        lines = "".join(f"? {path}\n" for path in paths)
        return Command([self.program, self.at("model.kch")], lines.encode())

    def read(self, output: bytes, _paths: Sequence[str]) -> Judged:
        return Judged.by_cutoffs(map(float, output.split()), spam=0.615)  # the cutoff of its demo

    def one(self, message: str) -> Command:
        return self.scoring([message])


def listing(paths: Sequence[str]) -> bytes:
    return "".join(f"{path}\n" for path in paths).encode()


def paths_in(folder: str) -> list[str]:
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


PEERS: dict[str, type[Peer]] = {
    "spamnb": Spamnb,
    "bogofilter": Bogofilter,
    "spamprobe": Spamprobe,
    "ifile": Ifile,
    "multinomial": MultinomialNB,
    "sgd": SGD,
    "bsfilter": Bsfilter,
    "spamassassin": SpamAssassin,
    "crm114": Crm114,
    "terminator": Terminator,
}
EVERY_DAY = ("spamnb", "bogofilter", "spamprobe", "multinomial")


def chosen(names: str | None) -> tuple[list[type[Peer]], list[str]]:
    """Return the requested filters ("all": every one) that are installed, and a line for each missing one."""
    asked = list(PEERS) if names == "all" else names.split(",") if names else list(EVERY_DAY)
    unknown = [name for name in asked if name not in PEERS]
    if unknown:
        raise SystemExit(f"no such peer: {', '.join(unknown)}; there are: {', '.join(PEERS)}")
    here = [PEERS[name] for name in asked if PEERS[name].missing() is None]
    gone = [f"{PEERS[n].name}: not installed ({PEERS[n].missing()})" for n in asked if PEERS[n].missing()]
    return here, gone
