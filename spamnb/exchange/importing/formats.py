"""Formats of the exports that can be imported, by name."""

from spamnb.exchange.importing.bogofilter import BOGOFILTER
from spamnb.exchange.importing.spambayes import SPAMBAYES
from spamnb.exchange.importing.spamprobe import SPAMPROBE

FORMATS = {known.name: known for known in (BOGOFILTER, SPAMBAYES, SPAMPROBE)}
