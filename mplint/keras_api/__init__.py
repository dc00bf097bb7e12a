"""Keras as data: a table generated from the real packages (`tools/make_keras_table.py`) and the small typed face that reads it.

Whatever was not measured is None here, never a guess.
"""

from __future__ import annotations

from mplint.keras_api.activations import activation_of, carries
from mplint.keras_api.layers import Result, layer_output_dtype, layer_result, policy_follows
from mplint.keras_api.names import Kind, canonical, dtype_name, generations, kind, names, versions
from mplint.keras_api.signatures import MISSING, OPAQUE, Parameter, method_parameters, parameters

__all__ = [
    "MISSING",
    "OPAQUE",
    "Kind",
    "Parameter",
    "Result",
    "activation_of",
    "canonical",
    "carries",
    "dtype_name",
    "generations",
    "kind",
    "layer_output_dtype",
    "layer_result",
    "method_parameters",
    "names",
    "parameters",
    "policy_follows",
    "versions",
]
