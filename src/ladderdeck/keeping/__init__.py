"""What lies on disk: the deck's own files, safe writing, and what is kept from run to run."""
