"""`python -m tests.loops`: let Keras train many random loops, right ones and ones with each fault."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing

from tests.loops.judge import Keras, disagreements
from tests.loops.writing import FAULTS, write


def main() -> int:
    """Print where mplint and Keras disagree; 1 where they do."""
    parser = argparse.ArgumentParser(prog="python -m tests.loops", description=__doc__)
    parser.add_argument("--generation", choices=("2", "3"), action="append", help="only this one (default: both)")
    parser.add_argument("--seeds", type=int, default=20, help="loops of each kind (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the first one (default: %(default)s)")
    options = parser.parse_args()
    failed = 0
    for generation in options.generation or ("2", "3"):
        count = bad = 0
        with closing(Keras(generation)) as keras:
            for seed in range(options.seed, options.seed + options.seeds):
                for fault in (None, *FAULTS[generation]):
                    loop = write(generation, seed, fault)
                    found = disagreements(loop, keras)
                    count += 1
                    bad += bool(found)
                    for text in found:
                        print(f"  {loop.id}: {text}", flush=True)
        print(f"Keras {generation}: {count} loops trained, {bad} disagreements")
        failed += bad
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
