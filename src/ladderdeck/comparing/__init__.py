"""How alike two wordings are, and which belongs to which."""
