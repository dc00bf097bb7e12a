"""mplint finds, rewrites and proves faults of Keras code under mixed precision."""

__version__ = "0.1.0"
