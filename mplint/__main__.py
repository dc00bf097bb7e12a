"""`python -m mplint`."""

from mplint.cli.main import run

run()
