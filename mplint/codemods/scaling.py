"""Loss scaling for a training loop: a wrapped optimizer, a scaled loss, and in Keras 2 unscaled gradients."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, layout, names, variables
from mplint.codemods.rewrite import Evidence, Rewrite, only_shown
from mplint.codemods.tapes import Taken
from mplint.codemods.variables import Spot
from mplint.findings import Applicability, Edit, Fix, Span
from mplint.interpreter.code import dotted
from mplint.interpreter.frames import Context
from mplint.interpreter.keras import optimizers
from mplint.interpreter.loops import Loops, Step
from mplint.interpreter.trace import Compiled, GradientsApplied, GradientTaken, OptimizerMade, OptimizerUsed
from mplint.interpreter.values import Instance, Made, Place
from mplint.interpreter.world import World
from mplint.keras_api import copy_of
from mplint.keras_api.optimizers import LOSS_SCALE
from mplint.source.file import SourceFile

SCALES: Final = {"2": "get_scaled_loss", "3": "scale_loss"}
"""The method that scales a loss, in each generation."""
_NOT_APPLIED: Final = ": the gradient that is taken for it is given to no optimizer"
_LIMITS: Final = frozenset({"clip_norm", "clip_value_min", "clip_value_max", "x_min", "x_max"})
"""What the functions that clip call the numbers that they clip to."""
_KEPT: Final = re.compile(
    rb"\b(Checkpoint|CheckpointManager|pickle|joblib|(save|load)_own_variables)\b"
    rb"|(optimizer|opt)\w*\.((get|set)_weights|variables)\b"
)
"""What may save or restore the state of an optimizer: of a wrapped one it has another structure."""
_KEPT_WITH_MODEL: Final = re.compile(
    rb"\b(BackupAndRestore|ModelCheckpoint|load_model|load_weights|save_model|save_weights)\b"
    rb"|(?<!np)(?<!numpy)\.save\("
)
"""What may save or restore that of an optimizer which a model holds."""
_OWN: Final = re.compile(rb"\.(beta_1|beta_2|rho|amsgrad|nesterov|momentum)\b(?!\s*=[^=])")
"""What a LossScaleOptimizer of Keras 3 does not pass on from the one inside."""


@dataclass(frozen=True)
class ScaleLoss(Rewrite):
    """Scale the loss whose gradient a step is, by its optimizer."""

    world: World
    step: Step

    def plan(self, evidence: Evidence) -> Fix | None:
        """Inside the tape; in Keras 2 the gradients are unscaled behind it."""
        scaled = _scaled(evidence, self.world, self.step, frozenset())
        if scaled is None:
            return None
        what = "Scale the loss"
        if scaled.elsewhere is not None:
            return only_shown(what, evidence.row_of(scaled.elsewhere), scaled.edits, _NOT_APPLIED)
        return Fix(what, scaled.applicability, scaled.edits)


@dataclass(frozen=True)
class AddLossScaling(Rewrite):
    """Wrap the optimizer of a step, and scale each loss that it, or one that shares a loop with it, minimizes."""

    world: World
    step: Step

    def plan(self, evidence: Evidence) -> Fix | None:
        """All of the loops at once: a wrapped optimizer stalls where a loss is not scaled."""
        worlds = [world for world in evidence.worlds if world.generation == self.world.generation]
        made, steps = _connected(worlds, self.step)
        edits: list[Edit] = []
        handed_on, elsewhere = False, None
        for place in made:
            around = wrapped(self.world, place)
            if around is None or any(_is_wrapped(world, place) for world in worlds):
                return None
            edits += around
        for world, step in steps:
            if step.is_minimize or _is_scaled_once_wrapped(world, step):
                continue
            scaled = _scaled(evidence, world, step, made.keys())
            if scaled is None:
                return None
            edits += scaled.edits
            handed_on = handed_on or scaled.applicability is Applicability.UNSAFE
            elsewhere = elsewhere or scaled.elsewhere
        what, whole = "Wrap the optimizer and scale the loss", tuple(dict.fromkeys(edits))
        unseen = next((place for world in worlds for place in _unseen(world, made.keys())), None)
        if unseen is not None:
            return only_shown(
                what, evidence.row_of(unseen), whole, ": gradients of a loss that is not scaled are divided"
            )
        if elsewhere is not None:
            return only_shown(what, evidence.row_of(elsewhere), whole, _NOT_APPLIED)
        held = any(_is_held(world, made.keys()) for world in worlds)
        words = (_KEPT, _KEPT_WITH_MODEL) if held else (_KEPT,)
        kept = any(evidence.mentions(place.source.path, word) for place in made for word in words)
        own = self.world.generation == "3" and any(evidence.mentions(place.source.path, _OWN) for place in made)
        return Fix(what, Applicability.UNSAFE if kept or own or handed_on else Applicability.SAFE, whole)


def _connected(worlds: Sequence[World], first: Step) -> tuple[dict[Place, None], list[tuple[World, Step]]]:
    """The optimizers that share a loop with that of `first`, by where they are made, and a step for each gradient."""
    made = {first.optimizer.address.place: None}
    taken: dict[tuple[Place | None, Place], tuple[World, Step]] = {}
    before = -1
    while before != len(made) + len(taken):
        before = len(made) + len(taken)
        for world in worlds:
            for step in world.once(Loops).steps:
                key = step.gradient.place, step.event.place
                if step.optimizer.address.place in made:
                    taken.setdefault(key, (world, step))
                if key in taken and not optimizers.scales(step.optimizer):
                    made.setdefault(step.optimizer.address.place)
    return made, list(taken.values())


def _unseen(world: World, made: Container[Place]) -> Iterator[Place]:
    """Where one of the optimizers is given gradients of which it is not known what loss they are taken of."""
    known = {step.event for step in world.once(Loops).steps}
    for event in world.trace.events:
        if isinstance(event, GradientsApplied) and event not in known and event.optimizer.address.place in made:
            yield event.place


def _is_held(world: World, made: Container[Place]) -> bool:
    """Whether a model has one of the optimizers as an attribute, or is compiled with it."""
    given = [event.given for event in world.trace.events if isinstance(event, Compiled)]
    fields = [held for model in world.models for held in world.machine.fields(model.instance.address).values()]
    return any(
        isinstance(part, Instance) and part.address.place in made and optimizers.is_optimizer(part)
        for value in (*given, *fields)
        for part in world.machine.parts(value)
    )


def _is_wrapped(world: World, made: Place) -> bool:
    """Whether the program puts a LossScaleOptimizer around what the call at `made` gives, in some other case."""
    for event in world.trace.events:
        if isinstance(event, OptimizerMade) and optimizers.scales(event.optimizer):
            inner = optimizers.inner_of(world.machine, event.optimizer)
            if isinstance(inner, Instance) and inner.address.place is made:
                return True
    return False


def _is_scaled_once_wrapped(world: World, step: Step) -> bool:
    """Whether the program calls `scale_loss` of the plain optimizer on the loss: of a wrapped one that scales it."""
    scaled = {
        id(argument.made)
        for event in world.trace.events
        if isinstance(event, OptimizerUsed) and event.optimizer == step.optimizer and event.name == SCALES["3"]
        for argument in event.arguments
        if hasattr(argument, "made")
    }
    return bool(scaled) and any(id(made) in scaled for made in _behind(step.gradient))


def _behind(made: Made) -> Iterator[Made]:
    stack, seen = [made], set[int]()
    while stack:
        here = stack.pop()
        if id(here) not in seen:
            seen.add(id(here))
            yield here
            stack.extend(operand.made for operand in here.operands)


# -- one loop


def optimizer_at(world: World, step: Step, made: Made) -> str | None:
    """How the optimizer of a step is written in the function in which something is `made`."""
    at, context = made.place, made.context
    return _optimizer(world, step, Spot(at, context)) if at is not None and context is not None else None


def _optimizer(world: World, step: Step, at: Spot) -> str | None:
    call, source = step.event.place.node, at.source
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
        return None
    applied = Spot(step.event.place, step.event.context)
    found = variables.written_at(world, step.optimizer, call.func.value, applied, at)
    if found is None:
        return None
    is_near = applied.source is source and variables.function_of(source, call) is variables.function_of(
        source, at.place.node
    )
    start, end = source.span(at.place.node).start, source.span(call).start if is_near else 0
    return None if variables.is_bound_between(source, found, start, end) else found


@dataclass(frozen=True)
class _Scaled:
    """A loss that is scaled."""

    edits: tuple[Edit, ...]
    applicability: Applicability = Applicability.SAFE
    elsewhere: Place | None = None
    """Where the same gradient is taken for another purpose."""


def _scaled(evidence: Evidence, world: World, step: Step, wrapped: Container[Place]) -> _Scaled | None:
    """The loss of a step scaled; `wrapped` are the optimizers that will be LossScaleOptimizers."""
    taken, place = Taken.of(step.gradient), step.gradient.place
    if taken is None or place is None:
        return None
    alike = _alike(evidence, place, world.generation)
    if any(one.course.factors for _, one in alike):
        return None
    ways = {optimizer_at(other, one, one.gradient) for other, one in alike}
    optimizer = ways.pop() if len(ways) == 1 else None
    handed = None
    if optimizer is None:
        handed = _hand_on(evidence, taken, alike)
        if handed is None:
            return None
        optimizer = handed.name
    source = taken.source
    if variables.is_bound_between(
        source, optimizer, source.span(taken.block.body).start, source.span(taken.call).start
    ):
        return None
    is_scaling = all(optimizers.scales(one.optimizer) or one.optimizer.address.place in wrapped for _, one in alike)
    is_always = not _is_by_compile(alike) and not _is_recorded_for_plain(evidence, world.generation, alike)
    edits = _written(world, step, taken, optimizer, alike, is_scaling and is_always)
    if edits is None:
        return None
    elsewhere = _not_applied(evidence, world.generation, place, alike)
    if handed is None:
        return _Scaled(tuple(edits), elsewhere=elsewhere)
    return _Scaled((*edits, *handed.edits), Applicability.UNSAFE, elsewhere)


def _not_applied(
    evidence: Evidence, generation: str, place: Place, alike: Sequence[tuple[World, Step]]
) -> Place | None:
    """Where a gradient that is taken at `place` goes to no optimizer: the call that leads there, or the place."""
    applied = {(world, _calls_to(step.gradient.context)) for world, step in alike}
    for world in evidence.worlds:
        for event in world.trace.events if world.generation == generation else ():
            if isinstance(event, GradientTaken) and event.place is place:
                sites = _calls_to(event.context)
                if (world, sites) not in applied:
                    return sites[-1] if sites else place
    return None


def _calls_to(context: Context | None) -> tuple[Place, ...]:
    """The calls that lead to a context, without the passes of loops between them."""
    return tuple(site for site in context.sites() if isinstance(site.node, cst.Call)) if context is not None else ()


def _written(
    world: World, step: Step, taken: Taken, optimizer: str, alike: Sequence[tuple[World, Step]], is_scaling: bool
) -> list[Edit] | None:
    if world.generation == "3":
        scaled, limits = into_tape(taken, optimizer, "3", None), _limits(alike)
        return [*scaled, *limits] if scaled is not None and limits is not None else None
    if is_scaling:
        return _pair(taken, optimizer, None)
    return _minimized(taken, optimizer, step) or _guarded(world, taken, optimizer)


@dataclass(frozen=True)
class _Handed:
    """A parameter for the optimizer, and what calls give for it."""

    name: str
    edits: tuple[Edit, ...]


def _hand_on(evidence: Evidence, taken: Taken, alike: Sequence[tuple[World, Step]]) -> _Handed | None:
    """Give the function that takes the gradient its optimizer, which its callers have.

    Where each of its calls is known, and nothing else names it.
    """
    source, function = taken.source, variables.function_of(taken.source, taken.call)
    if not isinstance(function, cst.FunctionDef) or not _takes_one_more(function):
        return None
    name = function.name.value
    sites: dict[Place, str] = {}
    for world, step in alike:
        context = step.gradient.context
        site = next(variables.callers(context), None) if context is not None else None
        found = _optimizer(world, step, site) if site is not None and _calls(site.place.node, name) else None
        if site is None or found is None or sites.setdefault(site.place, found) != found:
            return None
    others = {place.source.path for place in sites if place.source is not source}
    named = evidence.count(source.path, re.compile(rb"\b%s\b" % re.escape(name.encode())))
    words = {text.rpartition(".")[2] for text in sites.values()}
    if named not in (1 + len(sites), 1 + len(sites) + len(others)) or len(words) != 1:
        return None
    word = words.pop()
    given = variables.free(source, taken.call, word if word.isidentifier() else "optimizer")
    parameters = function.params.params
    at = source.span(parameters[-1]).end if parameters else source.text.index("(", source.span(function.name).end) + 1
    edits = [Edit(source.path, Span(at, at), f", {given}" if parameters else given)]
    for place, text in sites.items():
        if isinstance(place.node, cst.Call):
            is_keyword = any(arg.keyword is not None for arg in place.node.args)
            edits.append(calls.added(place.source, place.node, [f"{given}={text}" if is_keyword else text]))
    return _Handed(given, tuple(edits))


def _takes_one_more(function: cst.FunctionDef) -> bool:
    """Whether one more parameter can stand behind those of a function."""
    params = function.params
    plain = not isinstance(params.star_arg, cst.Param) and not params.kwonly_params and params.star_kwarg is None
    bare = all(isinstance(one.decorator, (cst.Name, cst.Attribute)) for one in function.decorators)
    return plain and bare and not any(param.default is not None for param in params.params)


def _calls(call: cst.CSTNode, name: str) -> bool:
    """Whether a call is one of a function by its name, with each argument written out."""
    if not isinstance(call, cst.Call) or any(arg.star for arg in call.args):
        return False
    return dotted(call.func).rpartition(".")[2] == name


def _alike(evidence: Evidence, place: Place, generation: str) -> list[tuple[World, Step]]:
    """The steps whose gradient is taken at `place`, in all worlds of a generation."""
    return [
        (world, step)
        for world in evidence.worlds
        if world.generation == generation
        for step in world.once(Loops).steps
        if step.gradient.place is place
    ]


def _is_by_compile(alike: Sequence[tuple[World, Step]]) -> bool:
    """Whether the optimizer is what `compile` has made of it: without the policy that is a plain one."""
    return any(world.once(Loops).made(step.optimizer) is None for world, step in alike)


def _is_recorded_for_plain(evidence: Evidence, generation: str, alike: Sequence[tuple[World, Step]]) -> bool:
    """Whether in another run, that takes the gradient elsewhere, the same tape records for a plain optimizer."""
    places = {tape.address.place for _, step in alike for tape in step.gradient.tapes}
    taken_in = {world for world, _ in alike}
    return any(
        tape.address.place in places and not optimizers.scales(step.optimizer)
        for world in evidence.worlds
        if world.generation == generation and world not in taken_in
        for step in world.once(Loops).steps
        for tape in step.gradient.tapes
    )


def into_tape(taken: Taken, optimizer: str, generation: str, guard: str | None) -> list[Edit] | None:
    """The edits that take a gradient of the scaled loss; the loss is scaled where `guard` holds."""
    method = SCALES[generation]
    edits: list[Edit] = []

    def lines(name: str, loss: str) -> list[str]:
        scaled = f"{name} = {optimizer}.{method}({loss})"
        if guard is None:
            return [scaled]
        return [f"if {guard}:", f"{taken.unit}{scaled}", "else:", f"{taken.unit}{name} = {loss}"]

    for loss in taken.elements:
        new = f"{optimizer}.{method}({layout.code(taken.source, loss)})"
        if guard is not None and not variables.is_plain(loss):
            return None
        found = taken.replaced(loss, lines, new)
        if found is None:
            return None
        edits += found
    return edits


def _limits(alike: Sequence[tuple[World, Step]]) -> list[Edit] | None:
    """Keras 3: the gradients stay scaled until they are applied, so what they are clipped to is scaled as they are."""
    edits: dict[Edit, None] = {}
    for world, step in alike:
        loops = world.once(Loops)
        for made in loops.clips(step):
            if any(loops.course_of(limit.made).is_scaled for limit in made.operands[1:]):
                continue  # it is already
            if made.place is None or not isinstance(made.place.node, cst.Call):
                return None
            source, call = made.place.source, made.place.node
            optimizer = optimizer_at(world, step, made)
            last = 1 if made.by.endswith("norm") else 2
            limits = [
                arg.value
                for position, arg in enumerate(call.args)
                if not arg.star and (0 < position <= last if arg.keyword is None else arg.keyword.value in _LIMITS)
            ]
            if optimizer is None or not limits:
                return None
            for limit in limits:
                written = f"{optimizer}.{SCALES['3']}({layout.code(source, limit)})"
                edits[Edit(source.path, source.span(limit, parentheses=True), written)] = None
            norm = _unscaled_norm(source, call, optimizer)
            if norm is not None:
                edits[norm] = None
    return list(edits)


def _unscaled_norm(source: SourceFile, call: cst.Call, optimizer: str) -> Edit | None:
    """`gradients, norm = tf.clip_by_global_norm(…)`: the norm, where it is used, as it would be without the scale."""
    statement = source.parent(call)
    match statement:
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Tuple(elements=[_, cst.Element(value=cst.Name() as norm)]))]
        ):
            pass
        case _:
            return None
    used = variables.number_of_uses(variables.function_of(source, call), norm.value)
    if used < 2 or norm.value.startswith("_") or layout.own_line(source, statement) is None:
        return None
    span = source.span(statement)
    at = layout.line_end(source, span.end)
    line = layout.newline(source, at) + layout.indentation(source, span.start)
    return Edit(source.path, Span(at, at), f"{line}{norm.value} /= {optimizer}.{SCALES['3']}(1.0)")


def _pair(taken: Taken, optimizer: str, guard: str | None) -> list[Edit] | None:
    """Keras 2: the loss scaled inside the tape, the gradients unscaled behind it."""
    sources = calls.argument_at(taken.call, "sources", 1)
    if sources is None or not _is_flat(sources.value):
        return None
    scaled, unscaled = into_tape(taken, optimizer, "2", guard), _unscaled(taken, optimizer, guard)
    return [*scaled, *unscaled] if scaled is not None and unscaled is not None else None


def _is_flat(sources: cst.BaseExpression) -> bool:
    """Whether the gradients are one list, and not lists in a list."""
    if not isinstance(sources, (cst.List, cst.Tuple)):
        return True
    return not any(
        dotted(element.value).endswith(("variables", "weights")) or isinstance(element.value, (cst.List, cst.Tuple))
        for element in sources.elements
        if isinstance(element, cst.Element)
    )


def _unscaled(taken: Taken, optimizer: str, guard: str | None) -> list[Edit] | None:
    source, call = taken.source, taken.call
    method, statement = f"{optimizer}.get_unscaled_gradients", source.parent(taken.call)
    if isinstance(statement, cst.Assign) and statement.value is call and layout.own_line(source, statement) is not None:
        target = statement.targets[0].target
        if len(statement.targets) == 1 and variables.is_plain(target):
            text = layout.code(source, target)
            start = source.span(statement).start
            at = layout.line_end(source, source.span(statement).end)
            line = layout.newline(source, at) + layout.indentation(source, start)
            new = f"{text} = {method}({text})"
            written = f"{line}{new}" if guard is None else f"{line}if {guard}:{line}{taken.unit}{new}"
            return [Edit(source.path, Span(at, at), written)]
    if guard is not None:
        return None
    span = source.span(call, parentheses=True)
    return [
        Edit(source.path, Span(span.start, span.start), f"{method}("),
        Edit(source.path, Span(span.end, span.end), ")"),
    ]


def _guarded(world: World, taken: Taken, optimizer: str) -> list[Edit] | None:
    """The same, where the optimizer is a LossScaleOptimizer."""
    written = wrapper(world, taken.source, None)
    if written is None:
        return None
    name, imported = written
    pair = _pair(taken, optimizer, f"isinstance({optimizer}, {name})")
    return [*imported, *pair] if pair is not None else None


def _minimized(taken: Taken, optimizer: str, step: Step) -> list[Edit] | None:
    """Keras 2: `optimizer.minimize(loss, variables, tape=tape)`, in which all of that is done.

    Where the gradient is taken and applied in two statements, one behind the other, and used nowhere else.
    """
    source, call, apply = taken.source, taken.call, step.event.place.node
    sources, pairs = calls.argument_at(call, "sources", 1), _zipped(apply)
    tape = call.func.value if isinstance(call.func, cst.Attribute) else None
    last = source.parent(apply)
    if step.event.place.source is not source or sources is None or pairs is None or tape is None or taken.is_inside:
        return None
    if len(call.args) != 2 or not isinstance(last, cst.Expr) or isinstance(taken.target, (cst.List, cst.Tuple)):
        return None
    if layout.code(source, pairs[1]) != layout.code(source, sources.value):
        return None
    line = layout.own_line(source, last)
    loss, changed = layout.code(source, taken.target), layout.code(source, sources.value)
    written = f"{optimizer}.minimize({loss}, {changed}, tape={layout.code(source, tape)})"
    done = Edit(source.path, source.span(apply), written)
    if pairs[0] is call:
        return [done]
    first = source.parent(call)
    before = layout.own_line(source, first) if first is not None else None
    if line is None or before is None or not isinstance(first, cst.Assign) or not isinstance(pairs[0], cst.Name):
        return None
    name = pairs[0].value
    targets = [target.target for target in first.targets]
    block = source.parent(line)
    if not isinstance(block, (cst.IndentedBlock, cst.Module)) or source.parent(before) is not block:
        return None
    if block.body.index(line) != block.body.index(before) + 1 or len(targets) != 1:
        return None
    used = variables.number_of_uses(variables.function_of(source, call), name)
    if not isinstance(targets[0], cst.Name) or targets[0].value != name or used != 2:
        return None
    gone = layout.whole_lines(source, before)
    return [Edit(source.path, gone, ""), done] if gone is not None else None


def _zipped(apply: cst.CSTNode) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """The gradients and the variables of `apply_gradients(zip(gradients, variables))`."""
    match apply:
        case cst.Call(
            args=[cst.Arg(value=cst.Call(func=cst.Name("zip"), args=[cst.Arg(value=one), cst.Arg(value=other)]))]
        ):
            return one, other
        case _:
            return None


# -- optimizers


def wrapped(world: World, place: Place) -> list[Edit] | None:
    """A LossScaleOptimizer around what the call at `place` makes."""
    call, source = place.node, place.source
    if not isinstance(call, cst.Call):
        return None
    written = wrapper(world, source, call.func)
    if written is None:
        return None
    name, imported = written
    span = source.span(call, parentheses=True)
    return [
        *imported,
        Edit(source.path, Span(span.start, span.start), f"{name}("),
        Edit(source.path, Span(span.end, span.end), ")"),
    ]


def wrapper(world: World, source: SourceFile, beside: cst.BaseExpression | None) -> tuple[str, tuple[Edit, ...]] | None:
    """How a file writes LossScaleOptimizer, and what it must import for it.

    Of the copy of Keras that the optimizer `beside` comes from; None of it: of the one that the file uses.
    """
    spelled = names.spelled(world, source, beside) if beside is not None else None
    copy = copy_of(spelled) if spelled is not None else None
    start = dotted(beside).partition(".")[0] if beside is not None else ""
    module = "mixed_precision" if world.generation == "2" else "optimizers"
    short = LOSS_SCALE.rpartition(".")[2]
    found: list[tuple[bool, bool, int, str]] = []
    for name, value in names.bound(world, source).items():
        if copy is not None and copy_of(value.spelled or value.path) != copy and name != start:
            continue
        rest = {
            LOSS_SCALE: "",
            f"keras.{module}": f".{short}",
            "keras.mixed_precision": f".{short}",
            "keras": f".{module}.{short}",
            "tensorflow": f".keras.{module}.{short}",
        }.get(value.path)
        if rest is not None:
            found.append((rest != "", name != start, rest.count("."), f"{name}{rest}"))
    if found:
        return min(found)[3], ()
    if beside is None:
        return None
    if world.generation == "3":
        return names.sibling(source, beside, short)
    edit = names.imported_from(source, copy, "mixed_precision") if copy is not None else None
    edit = edit or names.imported_beside(source, beside, ["mixed_precision"])
    return (f"mixed_precision.{short}", (edit,)) if edit is not None else None
