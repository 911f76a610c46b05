"""Whoever trains on much mail without the compiled core is told so, once."""

import sys

import pytest

LIKE_THAT = (
    "import sys; from spamnb.cli.render import notices; from spamnb.start import main; "
    "form, many = sys.argv.pop(1), sys.argv.pop(1); "
    "notices.MANY, notices.form_of_core = int(many), lambda: form; sys.exit(main())"
)


@pytest.mark.parametrize(
    ("form", "many", "flags", "told"),
    [
        ("interpreted", 13, [], 1),
        ("interpreted", 3, [], 1),
        ("interpreted", 14, [], 0),
        ("interpreted", 13, ["--quiet"], 0),
        ("compiled", 13, [], 0),
    ],
)
def test_training_on_more_than_many_messages(spamnb, own, mail, form, many, flags, told):
    train = ["train", "--jobs", "1", "--model", own, "--spam", mail.work, *flags]  # 14 messages
    done = spamnb.run([sys.executable, "-c", LIKE_THAT, form, str(many), *train])
    assert done.code == 0
    assert done.err.count(b"\n") == done.err.count(b"spamnb: not compiled") == told
