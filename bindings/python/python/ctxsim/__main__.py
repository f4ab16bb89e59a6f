"""The command line: `ctxsim`, or `python -m ctxsim`."""

import signal
import sys

from . import main


def run() -> None:
    # Ctrl-C ends a command at once, as it does without Python; files that are being written are removed.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main(["ctxsim", *sys.argv[1:]]))


if __name__ == "__main__":
    run()
