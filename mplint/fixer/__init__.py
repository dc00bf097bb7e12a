"""Mend what a report names, look again, and write only what stood the test."""

from mplint.fixer.check import touching
from mplint.fixer.disk import write
from mplint.fixer.fixpoint import Outcome, fix, look

__all__ = ["Outcome", "fix", "look", "touching", "write"]
