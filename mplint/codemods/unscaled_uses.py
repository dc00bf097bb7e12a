"""Gradients that are clipped or shown as they are without their scale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import conditions, differentiated, layout, receivers, statements
from mplint.codemods.clipping import NORM_GIVEN, limits, times_scale
from mplint.codemods.expressions import as_operand, enclosed, reduced
from mplint.codemods.moving import moved_in_front
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.keras.tapes import BY_FUNCTION
from mplint.interpreter.loops import Loops, Use
from mplint.interpreter.values import Instance, Made
from mplint.interpreter.world import World
from mplint.keras_api.arithmetic import CLIPS, READ
from mplint.keras_api.optimizers import UNSCALE_METHOD
from mplint.source.file import SourceFile
from mplint.source.walk import walk

_OF_LISTS: Final = ("global_norm", "add_n", "stack")
"""Operations on all gradients together."""


@dataclass(frozen=True)
class UseUnscaled(Rewrite):
    """Have `use` see gradients without the scale.

    In Keras 2 they are unscaled before it.  In Keras 3 the optimizer does that in the end: there a threshold is
    multiplied with the scale, and what is shown, or divided by, is divided by it.
    """

    world: World
    use: Use

    def plan(self, evidence: Evidence) -> Fix | None:
        """By the optimizer as it is written in the same function."""
        optimizer = next((one for one, power in self.use.course.powers.items() if one is not None and power > 0), None)
        by = receivers.written(self.world, optimizer, self.use.at) if optimizer is not None else None
        if by is None or optimizer is None:
            return None
        if self.world.generation == "2":
            return self._unscaled_before(optimizer, by)
        if self.use.course.gradient is not None and self.use.course.gradient.by == BY_FUNCTION:
            return self._by_state()
        return self._by(f"{by}.scale_loss(1.0)")

    @property
    def _source(self) -> SourceFile:
        return self.use.at.source

    # -- Keras 3

    def _by(self, scale: str, *before: Edit) -> Fix | None:
        if self.use.what in CLIPS:
            edits, what = self._times(scale), "multiply the threshold with the scale"
        else:
            edits, what = self._divided(scale), "divide by the scale"
        return Fix(what, Applicability.SAFE, (*before, *edits)) if edits else None

    def _by_state(self) -> Fix | None:
        """In a stateless loop the scale is among the variables that the step is given."""
        steps = self.world.once(Loops).steps
        step = next((step for step in steps if step.gradient is self.use.course.gradient), None)
        at = self._definition() or self.use.at.node
        found = differentiated.scale_of_now(self.world, step, at) if step is not None else None
        return self._by(*found) if found is not None else None

    def _times(self, scale: str) -> list[Edit]:
        call = self.use.at.node
        found = limits(call, self.use.what) if isinstance(call, cst.Call) else []
        return [times_scale(self._source, limit, scale) for limit in found]

    def _divided(self, scale: str) -> list[Edit]:
        """Divide by the scale where a name is bound to what is used, if nothing else counts on it; else where it is."""
        defined = self._definition()
        if defined is not None:
            return _divided(self._source, defined, scale)
        return [edit for node in self._shown() for edit in _divided(self._source, node, scale)]

    def _definition(self) -> cst.BaseExpression | None:
        """The value of an assignment that gives what is used: then all that reads the name is told the right number."""
        source, here = self._source, statements.scope(self._source, self.use.at.node)
        made: Made | None = self.use.made
        while made is not None and not _begins(made):
            node = made.place.node if made.place is not None and made.place.source is source else None
            statement = source.parent(node) if node is not None else None
            if isinstance(statement, cst.ListComp) and statement.elt is node:
                statement = source.parent(statement)
            bound = statements.target(statement)
            if isinstance(bound, cst.Name) and isinstance(node, cst.BaseExpression):
                alone = len(statements.stores(source, here, bound.value)) == 1
                if alone and statements.scope(source, node) is here and not self._is_given(here, bound.value):
                    return node
            made = next((o.made for o in made.operands if self._course_is_scaled(o.made)), None)
        return None

    def _course_is_scaled(self, made: Made) -> bool:
        return self.world.once(Loops).course_of(made).is_scaled

    def _is_given(self, here: statements.Scope, name: str) -> bool:
        """Whether a name is a norm that gradients with their scale are clipped by."""
        for read in statements.loads(self._source, here, name):
            arg = self._source.parent(read)
            if isinstance(arg, cst.Arg) and arg.keyword is not None and arg.keyword.value == NORM_GIVEN:
                return True
        return False

    def _shown(self) -> Iterator[cst.BaseExpression]:
        """The expressions in what is shown that stand for what is scaled."""
        source, at, made = self._source, self.use.at.node, self.use.made
        here = statements.scope(source, at)
        if made.place is None or made.place.source is not source:
            return
        for node in walk(at):
            if node is made.place.node and isinstance(node, cst.BaseExpression):
                yield node
                return
        for node in walk(at):
            read = isinstance(node, cst.Name) and node in statements.loads(source, at, node.value)
            if isinstance(node, cst.Name) and read and self._stands_for(here, node, made):
                yield node

    def _stands_for(self, here: statements.Scope, name: cst.Name, made: Made, of_list: bool = False) -> bool:
        """Whether a name was last bound to what `made` gives, or to an item of it; gradients are a list at first."""
        source = self._source
        start = source.span(name).start
        before = [node for node in statements.stores(source, here, name.value) if source.span(node).start < start]
        bound = before or statements.stores(source, self.use.at.node, name.value)
        if not bound or made.place is None:
            return False
        node = bound[-1]
        value = _bound_to(source, node)
        of_list = of_list or not isinstance(source.parent(node), cst.AssignTarget)
        if value is made.place.node:
            return of_list or made.kind != "gradient"
        return (
            isinstance(value, cst.Name) and value.value != name.value and self._stands_for(here, value, made, of_list)
        )

    # -- Keras 2

    def _unscaled_before(self, optimizer: Instance, by: str) -> Fix | None:
        """Move the unscaling in front of the use; where that cannot be moved, unscale there, and no more later."""
        source = self._source
        anchor = self._first()
        anchors = [anchor]
        if self.use.what in CLIPS and _gradients(source, anchor) is None:
            anchors.append(self.use.at.node)  # which is given the gradients themselves
        for anchor in anchors:
            later = self._unscaling(optimizer, anchor)
            edits = self._moved(later, anchor) if later is not None else None
            if edits is not None:
                return Fix("unscale the gradients first", Applicability.SAFE, tuple(edits))
        if conditions.is_scaled_under_more(self.use.course, self.use.at):
            return None
        given = _gradients(source, anchor)
        if given is None:
            return None
        node, is_list = given
        before, behind = ("", ")") if is_list else ("[", "])[0]")
        edits = enclosed(source, node, f"{by}.{UNSCALE_METHOD}({before}", behind)
        if self.use.unscaled is not None:
            taken = self._taken_away()
            if taken is None:
                return None
            edits += taken
        return Fix("unscale the gradients first", Applicability.SAFE, tuple(edits))

    def _first(self) -> cst.CSTNode:
        """The first operation on the gradients, in the same function, that the use hangs on."""
        source, here = self._source, statements.scope(self._source, self.use.at.node)
        found, made = self.use.at.node, self.use.made
        while not _begins(made):
            node = made.place.node if made.place is not None and made.place.source is source else None
            if node is not None and made.kind == "operation" and statements.scope(source, node) is here:
                found = node
            following = next((o.made for o in made.operands if self._course_is_scaled(o.made)), None)
            if following is None:
                break
            made = following
        return found

    def _unscaling(self, optimizer: Instance, anchor: cst.CSTNode) -> cst.Call | None:
        """The call behind `anchor`, in the same function, that unscales."""
        source = self._source
        start, here = source.span(anchor).end, statements.scope(source, anchor)
        for event in self.world.once(Loops).used():
            node = event.place.node
            if event.optimizer != optimizer or event.name != UNSCALE_METHOD or not isinstance(node, cst.Call):
                continue
            later = event.place.source is source and source.span(node).start > start
            if later and statements.scope(source, node) is here:
                return node
        return None

    def _moved(self, call: cst.Call, anchor: cst.CSTNode) -> list[Edit] | None:
        source = self._source
        bound = statements.binding(source, call)
        if bound is None:
            return None
        statement, name = bound
        match call.args:
            case [cst.Arg(value=cst.Name(value=given))] if given == name.value:
                found = moved_in_front(source, anchor, statement, but=given)
                # where it is bound in front, it means something else before
                return found[1] if found is not None and statements.loads(source, found[0], given) else None
            case _:
                return None

    def _taken_away(self) -> list[Edit] | None:
        """The edits without the unscaling that came later."""
        place = self.use.unscaled.place if self.use.unscaled is not None else None
        if place is None or place.source is not self._source or not isinstance(place.node, cst.Call):
            return None
        call = place.node
        return reduced(self._source, call, call.args[0].value) if len(call.args) == 1 else None


def _begins(made: Made) -> bool:
    """Whether gradients are taken there, or out of variables that hold them."""
    return made.kind == "gradient" or made.by == READ


def _divided(source: SourceFile, node: cst.BaseExpression, scale: str) -> list[Edit]:
    span = source.span(node, parentheses=True)
    operators = (cst.Attribute, cst.Call, cst.Subscript, cst.UnaryOperation, cst.BinaryOperation, cst.Comparison)
    text = f"{as_operand(source, node)} / {scale}"
    return [Edit(source.path, span, f"({text})" if isinstance(source.parent(node), operators) else text)]


def _bound_to(source: SourceFile, name: cst.Name) -> cst.BaseExpression | None:
    """What the statement or the loop that binds `name` binds it to, or to an item of."""
    position = None
    here: cst.CSTNode = name
    parent = source.parent(here)
    if isinstance(parent, cst.Element):
        outer = source.parent(parent)
        if isinstance(outer, (cst.Tuple, cst.List)):
            position = next(index for index, element in enumerate(outer.elements) if element is parent)
            here, parent = outer, source.parent(outer)
    match parent:
        case cst.AssignTarget():
            statement = source.parent(parent)
            return statement.value if isinstance(statement, cst.Assign) else None
        case cst.For(iter=held) | cst.CompFor(iter=held):
            return _item(held, position)
        case _:
            return None


def _item(held: cst.BaseExpression, position: int | None) -> cst.BaseExpression | None:
    """What a loop over `held` takes its items from, of tuples those at `position`."""
    match held:
        case cst.Call(func=cst.Name("zip"), args=args) if position is not None and position < len(args):
            return args[position].value
        case cst.Call(func=cst.Name("enumerate"), args=[cst.Arg(value=inner), *_]):
            return inner if position == 1 else None
        case _:
            return held if position is None else None


def _gradients(source: SourceFile, anchor: cst.CSTNode) -> tuple[cst.BaseExpression, bool] | None:
    """What an operation takes of the gradients, and whether that is a list of them."""
    if not isinstance(anchor, cst.Call) or not anchor.args:
        return None
    given = anchor.args[0].value
    function = layout.code(source, anchor.func).rpartition(".")[2]
    if function.endswith(_OF_LISTS):
        return given, True
    around = source.parent(anchor)
    match around:
        case cst.ListComp(for_in=cst.CompFor(target=cst.Name(value=name), iter=held, ifs=[], inner_for_in=None)):
            if isinstance(given, cst.Name) and given.value == name:
                return held, True
        case _:
            pass
    return given, False
