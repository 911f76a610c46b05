"""Cuts, stalls, garbled answers and kills at any step: no message is lost, doubled, read or learned twice."""

import pytest
from helpers.bad_network import BadNetwork, Weather
from helpers.imap_accounts import folders
from helpers.imap_mailbox import digest
from helpers.imap_storms import Runner, Sea
from helpers.samples import spam
from helpers.tiers import LONG

KINDS: dict = {
    "move": {},
    "copy": {"without": ("MOVE",)},
    "flag only": {"without": ("MOVE", "UIDPLUS")},
    "poor": {"without": ("MOVE", "UIDPLUS", "CONDSTORE", "QRESYNC"), "below_inbox": True},
}
SEEDS = range(40) if LONG else range(3, 4)


@pytest.fixture(scope="module")
def runner(spamnb):
    runner = Runner(spamnb.environment)
    yield runner
    runner.end()


@pytest.mark.parametrize("kind", KINDS if LONG else ["copy"])
def test_storms(dovecot_with, spamnb, three, runner, tmp_path, kind):
    server = dovecot_with(**KINDS[kind])
    sea = Sea(server, spamnb, tmp_path, runner, three)
    codes = [code for seed in SEEDS for code in sea.attack(seed)]
    assert set(codes) & {75, -9}  # some failed, or were killed
    if kind == "copy":
        kill_at_each_change(sea)


def kill_at_each_change(sea):
    for command in (b"UID COPY", b"UID STORE", b"UID EXPUNGE"):
        for when in ("silent", "answered"):
            sea.lay_out()
            assert sea.storm("run", Weather(cut_at=command, cut_when=when), kill=True) == -9
            assert sea.run("run") == 0
            sea.hold("run", f"{command!r} {when}")


@pytest.mark.parametrize(("without", "target"), [((), "Archive"), (("MOVE",), "Junk")])
def test_the_user_moves_what_we_are_about_to_move(dovecot_with, home, without, target):
    server = dovecot_with(without=without)
    home.add(server, ham=["Archive"])
    server.append("INBOX", spam(99))
    weather = Weather(cut_at=b"UID COPY" if without else b"UID MOVE", cut_when="lost")
    with BadNetwork(server.port, weather) as network:
        network.before_cut = lambda: server.move("INBOX", 1, target)
        home.change(server, port=network.port, ham=["Archive"])
        assert home("run").code == 75
        network.weather = Weather()
        assert (home.run(), home.run()) == ([], [])
    assert {name: [found.digest for found in messages] for name, messages in folders(server).items()} == {
        target: [digest(spam(99))]
    }
    assert [message[6] for message in home.state()["message"]] == [""]  # it is on its way nowhere
    assert home.label_of(spam(99)) is None
