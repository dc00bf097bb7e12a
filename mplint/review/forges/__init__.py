"""The forges that reviews are told through; what they need is in the extra `bot`."""
