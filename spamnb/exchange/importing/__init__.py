"""Import of what other filters have learned: a module for each says how its exports are read, listed here."""

from spamnb.exchange.importing.bogofilter import BOGOFILTER
from spamnb.exchange.importing.spambayes import SPAMBAYES
from spamnb.exchange.importing.spamprobe import SPAMPROBE

FORMATS = {known.name: known for known in (BOGOFILTER, SPAMBAYES, SPAMPROBE)}
