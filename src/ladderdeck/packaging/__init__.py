"""From notes to files: Anki's package, its text format, JSON."""
