"""The process of the server, without the libraries of the command line that starts it."""

import sys

from spamnb.errors import SpamnbError
from spamnb.files import complain
from spamnb.serve.options import Options
from spamnb.serve.workers import Server


def main() -> int:
    try:
        return Server(Options.from_json(sys.stdin.read())).run()
    except SpamnbError as error:
        complain(str(error))
        return error.exit_code


sys.exit(main())
