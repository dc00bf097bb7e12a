"""`python -m mplint`."""

from mplint.cli.main import main

main(prog_name="mplint")
