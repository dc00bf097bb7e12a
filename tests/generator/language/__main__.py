"""`python -m tests.generator.language`: judge many random programs in plain Python."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from tests.generator.language.judge import judge
from tests.generator.language.program import write
from tests.generator.language.shrink import shrunk


def main() -> int:
    """Print what was judged; 1 where something that is claimed is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.generator.language", description=__doc__)
    parser.add_argument("--programs", type=int, default=5000, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the first (default: %(default)s)")
    parser.add_argument("--keep", type=Path, default=Path("build/judge"), help="where programs with wrong claims go")
    parser.add_argument("--no-shrink", action="store_true", help="keep them as they are")
    parser.add_argument("--unknown", action="store_true", help="list the programs with most that is unknown")
    options = parser.parse_args()
    started = time.monotonic()
    known = unknown = failed = cut = 0
    raised: Counter[str] = Counter()
    dark: list[tuple[int, int]] = []
    for number, seed in enumerate(range(options.seed, options.seed + options.programs), 1):
        source = write(seed)
        verdict = judge(source)
        known, unknown, cut = known + verdict.known, unknown + verdict.unknown, cut + verdict.cut
        dark.append((verdict.unknown, seed))
        if verdict.raised:
            raised[verdict.raised.split(":")[0]] += 1
        if verdict.wrong:
            failed += 1
            print(f"WRONG {seed}: {verdict.wrong[0]}", flush=True)
            smallest = source if options.no_shrink else shrunk(source)
            options.keep.mkdir(parents=True, exist_ok=True)
            text = "".join(f"# {line}\n" for line in judge(smallest).wrong)
            (options.keep / f"language-{seed}.py").write_text(smallest + text, encoding="utf-8")
        if number % 500 == 0:
            print(f"{number} of {options.programs}", flush=True)
    print(
        f"{options.programs} programs ({sum(raised.values())} raise, {cut} cut), {known} claims, {unknown} unknown "
        f"({unknown / max(known + unknown, 1):.1%}), {failed} with wrong claims, {time.monotonic() - started:.0f} s"
    )
    if raised:
        print("  raised: " + ", ".join(f"{count} {name}" for name, count in raised.most_common()))
    if options.unknown:
        print("  most unknown: " + ", ".join(f"{seed} ({count})" for count, seed in sorted(dark, reverse=True)[:20]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
