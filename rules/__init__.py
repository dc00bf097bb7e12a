"""The rules, each in a module of its own whose docstring is its page."""
