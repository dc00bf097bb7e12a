"""A file: text, tree, positions, suppressions, edits. Knows nothing of Keras."""
