"""How programs are configured: command lines, environment variables, configuration objects and files.

What comes from outside is unknown, and what the program says about it (choices, defaults, comparisons, the values in a
file of the project) are its candidates.
"""
