"""Mend what a report names, look again, and write only what stood the test."""

from mplint.fixer.check import touching
from mplint.fixer.disk import write
from mplint.fixer.fixpoint import Filter, Outcome, fix, look
from mplint.fixer.ignoring import ignore

__all__ = ["Filter", "Outcome", "fix", "ignore", "look", "touching", "write"]
