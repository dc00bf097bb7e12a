"""Random Keras programs, and real TensorFlow as their judge.

`python -m tests.generator` (or `make judge`) writes programs from seeds, lets mplint say what their models put out and
what is wrong with them, runs them, and reports every disagreement with the smallest program that still shows it.
"""
