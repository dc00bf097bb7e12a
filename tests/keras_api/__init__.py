"""Tests of the table of what Keras does, and of the face that reads it."""
