"""`python -m spamnb` is `spamnb`."""

import sys

from spamnb.start import main

sys.exit(main())
