"""Answer and drill files: what they say, what they belong to, how far they cover the packs."""
