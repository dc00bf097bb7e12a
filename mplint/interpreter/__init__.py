"""The abstract interpreter: runs a program without TensorFlow, and says what it makes in which precision.

It walks LibCST's nodes from each entry point and computes with abstract values.  A condition that is not known and on
which the precision depends makes several worlds of a run; rules see the finished worlds, never the interpreter.

To read it, begin with what it computes with: `values`, `state` (cells to values), `frames` (where bindings live) and
`code` (what is fixed about a function).  Then the run itself: `machine`, with `expressions`, `statements`, `targets`,
`calls`, `dispatch`, `objects`, `attributes` and `modules`.  Then what Keras and TensorFlow do: `keras/`.  Last what
comes out, and what is run at all: `trace`, `world`, `worlds`, `roots`, `exploration`.
"""
