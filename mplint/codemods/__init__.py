"""What a rule can ask to have written: LibCST nodes in, minimal text edits out."""
