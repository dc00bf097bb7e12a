"""`python -m tests.generator`: judge many random programs."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.generator.batch import judge_batch
from tests.generator.verdict import Tally


def main() -> int:
    """Print what was judged; 1 where something disagrees."""
    parser = argparse.ArgumentParser(prog="python -m tests.generator", description=__doc__)
    parser.add_argument("--generation", choices=("2", "3"), action="append", help="only this one (default: both)")
    parser.add_argument("--programs", type=int, default=2000, help="in each generation (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the first program (default: %(default)s)")
    parser.add_argument(
        "--every", type=int, default=5, help="train one in so many that --fix changes (default: %(default)s)"
    )
    parser.add_argument("--keep", type=Path, default=Path("build/judge"), help="where disagreements go")
    parser.add_argument("--no-shrink", action="store_true", help="keep them as they are")
    options = parser.parse_args()
    failed = 0
    for generation in options.generation or ("2", "3"):
        tally = Tally()
        started = time.monotonic()
        found = judge_batch(
            generation,
            range(options.seed, options.seed + options.programs),
            every=options.every,
            tally=tally,
            keep=options.keep,
            shrinks=not options.no_shrink,
            progress=lambda text: print(text, flush=True),
        )
        failed += len(found)
        discarded = sum(tally.discarded.values())
        print(
            f"Keras {generation}: {tally.programs} programs ({discarded} raise), {tally.half} with half ends, "
            f"{tally.outputs} outputs compared, {tally.unknown} unknown "
            f"({tally.unknown / max(tally.outputs, 1):.1%}), {tally.uncalled} models not callable, "
            f"{tally.rewritten} rewritten ({tally.trained} of these trained), {len(found)} disagreements, "
            f"{time.monotonic() - started:.0f} s"
        )
        if tally.discarded:
            print("  raised: " + ", ".join(f"{count} {name}" for name, count in tally.discarded.most_common()))
        print("  about: " + ", ".join(f"{count} {name}" for name, count in tally.subjects.most_common()))
        print("  shown: " + ", ".join(f"{count} {name}" for name, count in tally.symptoms.most_common()))
        if tally.unknown_in:
            print("  not all known in: " + ", ".join(tally.unknown_in[:30]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
