"""The servers that the other tests here use do what those rely on."""

import imaplib
from contextlib import suppress

import pytest
from helpers.bad_network import BadNetwork, Weather, random_weather
from helpers.imap_mailbox import HOST, PASSWORD, USER, digest, done
from helpers.waiting import PATIENCE

RAW = b"From: Carl <carl@example.net>\nSubject: xyzzy\n\nplugh, said caf\xe9\n"
WHEN = 1_600_000_000


# What a client sends with a token, and the empty line after a refusal.
WITH_TOKEN = {
    "XOAUTH2": "user={user}\1auth=Bearer {token}\1\1",
    "OAUTHBEARER": "n,a={user},\1auth=Bearer {token}\1\1",
}


def log_in_with_token(server, mechanism, token):
    lines = iter([WITH_TOKEN[mechanism].format(user=USER, token=token).encode(), b""])
    with server.connect(login=False) as client:
        client.authenticate(mechanism, lambda _: next(lines))


def test_logins(dovecot):
    with imaplib.IMAP4_SSL("localhost", dovecot.tls_port, ssl_context=dovecot.tls) as client:
        client.login(USER, PASSWORD)
    with dovecot.connect(login=False) as client:
        client.starttls(dovecot.tls)
        with pytest.raises(imaplib.IMAP4.error, match="AUTHENTICATIONFAILED"):
            client.login(USER, "wrong")
        client.login(USER, PASSWORD)


@pytest.mark.parametrize("mechanism", WITH_TOKEN)
def test_tokens(dovecot, mechanism):
    dovecot.tokens.good = {"one"}
    log_in_with_token(dovecot, mechanism, "one")
    dovecot.tokens.good = {"two"}
    with pytest.raises(imaplib.IMAP4.error, match="AUTHENTICATIONFAILED"):
        log_in_with_token(dovecot, mechanism, "one")
    log_in_with_token(dovecot, mechanism, "two")


def test_messages(server):
    junk, other = server.name("Junk"), server.name("Später & mehr")
    server.create(other)
    server.append("INBOX", RAW, r"\Seen $Junk", WHEN)
    server.fill("INBOX", [RAW + b"%d\n" % n for n in range(3)])
    (before, *filled) = server.contents()["INBOX"]
    assert (before.flags, before.digest) == ({r"\Seen", "$Junk"}, digest(RAW))
    assert [message.digest for message in filled] == [digest(RAW + b"%d\n" % n) for n in range(3)]
    server.move("INBOX", before.uid, junk)
    server.move("INBOX", filled[0].uid, other)
    after = server.contents()
    (moved,) = after[junk]
    assert moved._replace(uid=before.uid) == before
    assert (len(after["INBOX"]), len(after[other])) == (2, 1)
    server.wipe()
    assert not any(server.contents().values())


def validity(server, folder="INBOX"):
    with server.connect() as client:
        done(client.select(folder))
        return client.response("UIDVALIDITY")[1]


def test_uidvalidity_changes(server):
    server.append("INBOX", RAW)
    before = validity(server)
    server.change_uidvalidity("INBOX")
    assert validity(server) != before
    assert [message.digest for message in server.contents()["INBOX"]] == [digest(RAW)]


def test_read_only(server):
    junk = server.name("Junk")
    server.append(junk, RAW)
    server.append("INBOX", RAW)
    server.read_only(junk)
    with server.connect() as client:
        done(client.select("INBOX"))
        assert client.uid("COPY", "1", junk)[0] == "NO"


def offered(server):
    with server.connect() as client:
        return client.capability()[1][0].decode().split()


def test_what_dovecot_offers_can_be_taken_away(dovecot_with):
    bare = dovecot_with(
        without=("MOVE", "UIDPLUS", "CONDSTORE", "SPECIAL-USE", "LITERAL+"), separator=".", prefix="INBOX."
    )
    everything = dovecot_with()
    assert {"MOVE", "UIDPLUS", "CONDSTORE", "SPECIAL-USE", "LITERAL+"} == set(offered(everything)) - set(
        offered(bare)
    )
    assert r"\Junk" in everything.folders()["Junk"]
    assert "INBOX.Junk" in bare.folders()


def test_what_courier_offers(courier):
    assert not {"MOVE", "CONDSTORE", "SPECIAL-USE"} & set(offered(courier))
    with courier.connect() as client:
        done(client.enable("UTF8=ACCEPT"))
        done(client.create('"INBOX.Später"'))
    assert "INBOX.Später" in courier.folders()


@pytest.mark.parametrize("command", ["COPY", "MOVE"])
def test_a_full_folder(dovecot_with, command):
    server = dovecot_with(full=True)
    server.append("INBOX", RAW)
    with server.connect() as client:
        done(client.select("INBOX"))
        status, answer = client.uid(command, "1", "Full/Junk")
        assert (status, b"OVERQUOTA" in answer[0]) == ("NO", True)
    assert len(server.contents()["INBOX"]) == 1


def copy_over(network, server, patience=PATIENCE):
    """Copy a message over a network: what the client saw of it, and how many are there in the end."""
    server.wipe()
    server.append("INBOX", RAW)
    seen = "nothing"
    with suppress(OSError, imaplib.IMAP4.error), imaplib.IMAP4(HOST, network.port, patience) as client:
        try:
            client.login(USER, PASSWORD)
            done(client.select("INBOX"))
            seen = client.uid("COPY", "1", server.name("Junk"))[0]
        finally:
            client.shutdown()
    return seen, len(server.contents()[server.name("Junk")])


@pytest.mark.parametrize(
    ("when", "seen", "copied"),
    [("lost", "nothing", 0), ("silent", "nothing", 1), ("half", "nothing", 1), ("answered", "OK", 1)],
)
def test_a_connection_is_cut_at_a_command(dovecot, when, seen, copied):
    with BadNetwork(dovecot.port, Weather(cut_at=b"UID COPY", cut_when=when)) as network:
        assert copy_over(network, dovecot) == (seen, copied)
        network.weather = Weather()
        assert copy_over(network, dovecot) == ("OK", 1)
        assert network.connections == 2


@pytest.mark.parametrize(
    ("weather", "seen"),
    [
        (Weather(cut_received=20), "nothing"),
        (Weather(cut_sent=30, reset=True), "nothing"),
        (Weather(stall_received=300), "nothing"),
        (Weather(garble=0.5), "nothing"),
        (Weather(piece=3, delay=0.0001), "OK"),
    ],
)
def test_bad_weather(dovecot, weather, seen):
    with BadNetwork(dovecot.port, weather) as network:
        is_in_vain = weather.stall_received or weather.garble  # it waits for what never comes
        assert copy_over(network, dovecot, 0.5 if is_in_vain else PATIENCE)[0] == seen


def test_random_weather_is_the_same_in_each_run():
    first, again = random_weather(7), random_weather(7)
    drawn = [first() for _ in range(50)]
    assert drawn == [again() for _ in range(50)]
    assert len(set(drawn)) > 20
