"""What Keras and TensorFlow do with abstract values, on top of the measured table in `mplint.keras_api`."""
