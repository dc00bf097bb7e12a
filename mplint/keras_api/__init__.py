"""Keras as data: a table generated from the real packages, and the small typed face that reads it.

`tools/make_keras_table.py` measures and writes the table. Whatever was not measured is None here, never a guess.
"""

from __future__ import annotations

from mplint.keras_api.activations import activates_last, activation_of, carries, joins
from mplint.keras_api.applications import Application, application
from mplint.keras_api.calls import (
    Called,
    Calls,
    called_parameters,
    calls_argument,
    size_parameters,
    vocabulary_parameters,
)
from mplint.keras_api.copies import COPIES, Copy, are_separate, copy_of
from mplint.keras_api.layers import (
    Result,
    decisive_in_call,
    keeps_dtype,
    layer_of_function,
    layer_output_dtype,
    layer_result,
    policy_follows,
)
from mplint.keras_api.names import Kind, canonical, dtype_name, generations, kind, last_words, names, versions
from mplint.keras_api.operations import (
    Clash,
    Operand,
    Operation,
    Outcome,
    array,
    operation,
    python,
    sequence,
    tensor,
)
from mplint.keras_api.places import (
    called_with_old_arguments,
    only_generation_with,
    removed_from_tensorflow,
    top_names_of,
)
from mplint.keras_api.policies import (
    Use,
    half_variables,
    has_own_dtype,
    has_variables,
    is_refused,
    nearest_policy,
    own_dtype,
    policy_dtype,
)
from mplint.keras_api.signatures import MISSING, OPAQUE, Parameter, method_parameters, methods, parameters

__all__ = [
    "COPIES",
    "MISSING",
    "OPAQUE",
    "Application",
    "Called",
    "Calls",
    "Clash",
    "Copy",
    "Kind",
    "Operand",
    "Operation",
    "Outcome",
    "Parameter",
    "Result",
    "Use",
    "activates_last",
    "activation_of",
    "application",
    "are_separate",
    "array",
    "called_parameters",
    "called_with_old_arguments",
    "calls_argument",
    "canonical",
    "carries",
    "copy_of",
    "decisive_in_call",
    "dtype_name",
    "generations",
    "half_variables",
    "has_own_dtype",
    "has_variables",
    "is_refused",
    "joins",
    "keeps_dtype",
    "kind",
    "last_words",
    "layer_of_function",
    "layer_output_dtype",
    "layer_result",
    "method_parameters",
    "methods",
    "names",
    "nearest_policy",
    "only_generation_with",
    "operation",
    "own_dtype",
    "parameters",
    "policy_dtype",
    "policy_follows",
    "python",
    "removed_from_tensorflow",
    "sequence",
    "size_parameters",
    "tensor",
    "top_names_of",
    "versions",
    "vocabulary_parameters",
]
