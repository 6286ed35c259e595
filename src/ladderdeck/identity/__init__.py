"""Which note is which after an edit: the ledger, and the matching."""
