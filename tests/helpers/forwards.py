"""Forwarded mail as mail programs write it: the message attached, or within the text."""

from email import message_from_bytes
from email.message import EmailMessage

from helpers.samples import spam

HOP = "from [192.0.2.7] (x [192.0.2.7]) by mx.example.org with {} id 1; Mon, 16 Nov 2026 01:02:03 +0000"
TO, ANN = "ann+spam@example.org", "ann@example.org"


def forward(*attached, to=TO, sender=ANN, protocol="ESMTPSA", text="see below"):
    message = EmailMessage()
    message["Received"] = HOP.format(protocol)
    message["From"], message["To"], message["Subject"] = f"Ann <{sender}>", to, "Fwd: look at this"
    message.set_content(text)
    for raw in attached:
        message.add_attachment(message_from_bytes(raw))
    return message.as_bytes()


REFUSED = {  # and the reason
    forward(text=spam(72).decode()): "no message is attached; forward mail as an attachment",
    forward(spam(72), sender="eve@example.org"): "the sender is not an address given by --forwarded-by",
    forward(spam(72), protocol="ESMTPS"): "the sender may be forged",
}
