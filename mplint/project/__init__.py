"""What lies around a file: its project, the modules it imports, and the Keras generation it is written for."""
