"""Keras as data: a table generated from the real packages, and the small typed face that reads it.

`tools/make_keras_table.py` measures and writes the table. Whatever was not measured is None here, never a guess.
"""

from __future__ import annotations

from mplint.keras_api.activations import activation_of, carries
from mplint.keras_api.applications import application_output_dtype
from mplint.keras_api.calls import Called, Calls, calls_argument, size_parameters, vocabulary_parameters
from mplint.keras_api.layers import Result, layer_of_function, layer_output_dtype, layer_result, policy_follows
from mplint.keras_api.names import Kind, canonical, dtype_name, generations, kind, names, versions
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
from mplint.keras_api.signatures import MISSING, OPAQUE, Parameter, method_parameters, methods, parameters

__all__ = [
    "MISSING",
    "OPAQUE",
    "Called",
    "Calls",
    "Clash",
    "Kind",
    "Operand",
    "Operation",
    "Outcome",
    "Parameter",
    "Result",
    "activation_of",
    "application_output_dtype",
    "array",
    "calls_argument",
    "canonical",
    "carries",
    "dtype_name",
    "generations",
    "kind",
    "layer_of_function",
    "layer_output_dtype",
    "layer_result",
    "method_parameters",
    "methods",
    "names",
    "operation",
    "parameters",
    "policy_follows",
    "python",
    "sequence",
    "size_parameters",
    "tensor",
    "versions",
    "vocabulary_parameters",
]
