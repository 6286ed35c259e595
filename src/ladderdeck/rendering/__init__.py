"""From source text to HTML."""
