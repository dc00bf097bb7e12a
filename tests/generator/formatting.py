"""How a program is written down: everything that a rewrite must leave as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.generator.choices import Choices

WIDTH = 88


class Page:
    """Takes statements, and writes each in one of the ways in which people do."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self.needs: set[str] = set()
        """Imports of the standard library that what was written needs."""
        self._lines: list[str] = []
        self._depth = 0
        self._comments = 0
        self._joinable = False
        self._oddness = choices.weighted([(4, 0.0), (4, 0.06), (2, 0.25)])
        """How often a statement takes an unusual form."""
        self._remarks = choices.weighted([(3, 0.0), (4, 0.1), (2, 0.4)])
        """How often a comment stands behind or inside something."""
        self._spread = choices.weighted([(4, 0.05), (3, 0.3), (1, 0.8)])
        """How often a call goes over several lines."""
        self._quotes = choices.weighted([(5, '"'), (3, "'"), (1, '"""')])
        self._indent = choices.weighted([(7, "    "), (1, "  "), (1, "\t")])
        self._newline = choices.weighted([(9, "\n"), (1, "\r\n")])
        self._padding = choices.weighted([(9, ""), (1, " ")])
        """Between brackets and what they hold, and around the `=` of an argument."""
        self._bom = choices.chance(0.05)
        self._final_newline = not choices.chance(0.08)

    # -- expressions

    def text(self, value: str) -> str:
        """A string literal."""
        if self._choices.chance(self._oddness):
            form = self._choices.pick(("'", '"', "'''", "parts", "prefix"))
            if form == "parts" and len(value) > 2:
                return f'"{value[:2]}" "{value[2:]}"'
            if form == "prefix":
                return f'{self._choices.pick(("r", "u", "f", "R"))}"{value}"'
            quote = form if len(form) < 4 else "'"
            return f"{quote}{value}{quote}"
        return f"{self._quotes}{value}{self._quotes}"

    def call(self, function: str, /, *arguments: str | None, **named: str | None) -> str:
        """A call; arguments that are None are left out."""
        parts = [argument for argument in arguments if argument is not None]
        equals = f"{self._padding}={self._padding}"
        parts += [f"{name}{equals}{value}" for name, value in named.items() if value is not None]
        gap = " " if self._choices.chance(self._oddness / 3) else ""
        return self._bracketed(f"{function}{gap}(", parts, ")")

    def listed(self, items: Sequence[str], brackets: str = "[]") -> str:
        """A list, tuple or dict display of finished items."""
        if brackets == "()" and len(items) == 1:
            return f"({items[0]},)"
        return self._bracketed(brackets[0], list(items), brackets[1])

    def _bracketed(self, opening: str, parts: list[str], closing: str) -> str:
        padding = self._padding if parts else ""
        flat = f"{opening}{padding}{', '.join(parts)}{padding}{closing}"
        if not parts or not (self._choices.chance(self._spread) or len(flat.split("\n")[0]) > WIDTH):
            return flat
        if self._choices.chance(0.15):  # hugging: only the last argument starts a line of its own
            comma = "," if self._choices.chance(0.3) else ""
            return (
                f"{opening}{', '.join(parts[:-1])}{',' if parts[1:] else ''}\n{self._within(parts[-1])}{comma}{closing}"
            )
        rows = []
        for number, part in enumerate(parts):
            comma = "," if number + 1 < len(parts) or not self._choices.chance(0.3) else ""
            rows.append(self._within(part) + comma + self._remark(self._remarks))
            if self._choices.chance(self._remarks / 4):
                rows.append(self._indent + self._new_comment())
            if self._choices.chance(self._oddness / 4):
                rows.append("")
        return f"{opening}{self._remark(self._remarks / 4)}\n" + "\n".join(rows) + f"\n{closing}"

    def _within(self, text: str) -> str:
        return "\n".join(self._indent + line for line in text.split("\n"))

    # -- statements

    def assign(self, target: str, value: str) -> None:
        """`target = value`."""
        if not self._choices.chance(self._oddness):
            self._simple(f"{target} = {value}")
            return
        is_name = target.isidentifier()
        forms = ["parentheses", "backslash", "one-line if", "joined", "with", "try", "match", "for", "if"]
        if is_name:
            forms += ["walrus", "twice", "annotated"]
        match self._choices.pick(forms):
            case "parentheses":
                self._simple(f"{target} = ({value})")
            case "backslash":
                self._simple(f"{target} = \\\n{self._indent}{value}")
            case "one-line if" if "\n" not in value:
                self._simple(f"if True: {target} = {value}", join=False)
            case "joined":
                self._simple(f"{target} = {value}", join=True)
            case "with":
                self.needs.add("import contextlib")
                with self.inside("with contextlib.nullcontext():"):
                    self._simple(f"{target} = {value}")
            case "try":
                with self.inside("try:"):
                    self._simple(f"{target} = {value}")
                with self.inside("finally:"):
                    self._simple("pass")
            case "match":
                with self.inside("match 1:"), self.inside("case 1:"):
                    self._simple(f"{target} = {value}")
            case "for":
                with self.inside("for _ in range(1):"):
                    self._simple(f"{target} = {value}")
            case "if":
                with self.inside("if 1 < 2:"):
                    self._simple(f"{target} = {value}")
                if self._choices.chance(0.5):
                    with self.inside("else:"):
                        self._simple("raise SystemExit")
            case "walrus":
                with self.inside(f"if ({target} := {value}) is not None:"):
                    self._simple("pass")
            case "twice":
                self._simple(f"{target} = {target}_again = {value}")
            case "annotated":
                self._simple(f"{target}: object = {value}")
            case _:
                self._simple(f"{target} = {value}")

    def do(self, expression: str) -> None:
        """An expression, `return …`, `import …`: a simple statement as it is."""
        self._simple(expression, join=None if self._choices.chance(0.5) else False)

    def _simple(self, statement: str, join: bool | None = None) -> None:
        joins = self._choices.chance(self._oddness / 2) if join is None else join
        if joins and self._joinable and "\n" not in statement:
            separator = self._choices.pick(("; ", ";", " ; "))
            self._lines[-1] += separator + statement
        else:
            indent = self._indent * self._depth
            self._lines += [indent + line if line else line for line in statement.split("\n")]
        starts_block = statement.startswith(("if ", "@"))
        self._joinable = "\n" not in statement and not starts_block
        if not starts_block and not statement.endswith("\\") and self._choices.chance(self._oddness / 4):
            self._lines[-1] += self._choices.pick((";", " ;", "   "))
            self._joinable = False
        remark = "" if statement.endswith(("\\", "pass")) else self._remark(self._remarks)
        if remark:
            self._lines[-1] += remark
            self._joinable = False

    @contextmanager
    def inside(self, header: str) -> Iterator[None]:
        """What is written meanwhile stands in the block of `header`."""
        self._joinable = False
        indent = self._indent * self._depth
        self._lines += [indent + line for line in header.split("\n")]
        self._lines[-1] += self._remark(self._remarks / 2)
        self._depth += 1
        yield
        self._depth -= 1
        self._joinable = False

    def blank(self, count: int = 1) -> None:
        """Empty lines, and now and then a comment on a line of its own."""
        self._joinable = False
        self._lines += [""] * count
        if self._choices.chance(self._remarks):
            self._lines.append(self._indent * self._depth + self._new_comment())

    # -- comments

    def _remark(self, share: float) -> str:
        return self._choices.pick(("  ", " ", "   ")) + self._new_comment() if self._choices.chance(share) else ""

    def _new_comment(self) -> str:
        self._comments += 1
        words = self._choices.weighted(
            [(8, "remark"), (1, "größer – 数"), (1, "Dense(3)  # remark"), (1, "'''softmax")]
        )
        return f"# {words} {self._comments}"

    # -- the whole

    def render(self, head: Sequence[str]) -> str:
        """The text, behind the lines of `head`."""
        lines = [*head, *self._lines]
        text = "\n".join(lines).rstrip("\n") + ("\n" if self._final_newline else "")
        return ("\ufeff" if self._bom else "") + text.replace("\n", self._newline)
