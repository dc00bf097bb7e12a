"""Measures what Keras and TensorFlow really do; `tools/make_keras_table.py` writes it down for mplint."""
