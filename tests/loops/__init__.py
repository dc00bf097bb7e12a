"""Random training loops, right ones and ones that are wrong in one way, and the Keras that trains them.

A right loop must be found right, and trains as it does in float32; what is found wrong in the other must show when it
is trained, and what `--fix` makes of it must train as the right one does.
"""
