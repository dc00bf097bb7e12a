"""Random programs in plain Python, and CPython as the judge of what the interpreter says that it knows.

`python -m tests.generator.language` writes programs from seeds, runs each, and compares every module-level name with
its abstract value: a constant, structure, class or function that differs is a defect; unknown is allowed, and counted.
"""
