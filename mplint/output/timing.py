"""Where the time went, and how much of the program was known."""

from __future__ import annotations

from mplint.analysis import Timing


def render(timing: Timing) -> str:
    """A line a phase, then the share of what was reached whose dtype is known."""
    lines = [f"{phase:10} {seconds:8.2f} s" for phase, seconds in timing.phases.items()]
    for what, share in (("layers", timing.layers), ("tensors", timing.tensors)):
        lines.append(f"{what:10} {share.known:.0f} of {share.places} places known")
    if timing.known is not None:
        lines.append(f"{'known':10} {timing.known:.1%}")
    return "\n".join(lines) + "\n"
