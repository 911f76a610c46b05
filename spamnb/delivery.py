"""One message on standard input, judged or learned: what procmail starts once a mail.

Process start counts here (Python alone needs 14 ms), so a plain call comes straight to this module,
past the command line's libraries; any other comes here through them.
"""

from __future__ import annotations

from spamnb.errors import InputOutputError, NoModel
from spamnb.files import default_model, read_all, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spamnb.model import Model
    from spamnb.verdict import Verdict

STDIN, STDOUT = 0, 1
FLAGS = {
    "-p": "passthrough",
    "--passthrough": "passthrough",
    "-e": "exit_code",
    "--exit-code": "exit_code",
    "--json": "json",
}
EXIT_CODES = {"spam": 0, "ham": 1, "unsure": 2}


class Classify:
    """`spamnb classify [-p] [-e] [--json] [--model PATH]` without a path."""

    def __init__(
        self, model: str | None = None, passthrough: bool = False, exit_code: bool = False, json: bool = False
    ) -> None:
        self.model = model or default_model()
        self.passthrough = passthrough
        self.exit_code = exit_code
        self.json = json

    def run(self, opened: Model | None = None) -> int:
        from spamnb.model import Model

        raw = standard_input()
        verdict = (opened or Model.open(self.model)).classify(raw)
        standard_output(self.answer(raw, verdict))
        return EXIT_CODES.get(verdict.label, 0) if self.exit_code else 0

    def answer(self, raw: bytes, verdict: Verdict, path: str = "-", index: int | None = None) -> bytes:
        if self.passthrough:
            from spamnb.passthrough import passed_through

            return passed_through(raw, verdict)
        if self.json:
            import json

            return json.dumps({"path": path, "index": index, **verdict.as_map()}).encode() + b"\n"
        return f"{verdict.label}\t{verdict.score:.4f}\t{path}\n".encode("utf-8", "surrogateescape")


class Learn:
    """`spamnb train --ham|--spam|--label NAME= - [--forget] [--model PATH]`."""

    def __init__(
        self, label: str, model: str | None = None, forget: bool = False, json: bool = False
    ) -> None:
        self.label = label
        self.json = json
        self.model = model or default_model()
        self.forget = forget

    def run(self) -> int:
        from spamnb.learning import learn

        raw = standard_input()
        try:
            result = learn(self.model, raw, None if self.forget else self.label)
        except NoModel:
            from spamnb.bulk.training import create

            create(self.model, self.label)
            result = learn(self.model, raw, None if self.forget else self.label)
        if self.json:
            import json

            standard_output(json.dumps({"model": self.model, result: {self.label: 1}}).encode() + b"\n")
        else:
            standard_output(f"{self.label}: 1 {result}\n".encode())
        return 0


def parsed(arguments: Sequence[str]) -> Callable[[], int] | None:
    """The delivery that a command line asks for; None where it asks for more than is understood here."""
    command, rest = arguments[0] if arguments else "", list(arguments[1:])
    model, flags, label = None, set(), None
    while rest:
        word = rest.pop(0)
        if word == "--model" and rest:
            model = rest.pop(0)
        elif word.startswith("--model="):
            model = word[8:]
        elif command == "classify" and word in FLAGS:
            flags.add(FLAGS[word])
        elif command == "train" and word in ("--ham", "--spam") and rest[:1] == ["-"] and label is None:
            label = word[2:]
            rest.pop(0)
        elif command == "train" and word == "--forget":
            flags.add("forget")
        else:
            return None
    if command == "classify":
        return Classify(model, "passthrough" in flags, "exit_code" in flags, "json" in flags).run
    if command == "train" and label is not None:
        return Learn(label, model, "forget" in flags).run
    return None


def standard_input() -> bytes:
    try:
        return read_all(STDIN)
    except OSError as error:
        raise InputOutputError(f"cannot read standard input: {error.strerror}") from error


def standard_output(data: bytes) -> None:
    try:
        write_all(STDOUT, data)
    except OSError as error:
        raise InputOutputError(f"cannot write to standard output: {error.strerror}") from error
