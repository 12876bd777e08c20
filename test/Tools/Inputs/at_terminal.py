#!/usr/bin/env python3
"""at_terminal.py COMMAND...: runs it with a terminal as its error stream, prints
what it wrote there without the control sequences, and ends as it did."""
import os
import pty
import re
import subprocess
import sys


def main():
    ours, theirs = pty.openpty()
    child = subprocess.Popen(sys.argv[1:], stderr=theirs)
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the last one at the terminal has left
            break
        if not piece:
            break
        text += piece
    said = re.sub(r"\x1b\[K|\r", "", text.decode())
    sys.stdout.write(said)
    sys.exit(child.wait())


if __name__ == "__main__":
    main()
