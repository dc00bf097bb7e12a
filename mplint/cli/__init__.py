"""The command line: one module a command; only arguments, streams and exit statuses."""
