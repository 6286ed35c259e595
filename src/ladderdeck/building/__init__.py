"""A build as a whole: what it reads, what it does, what it says."""
