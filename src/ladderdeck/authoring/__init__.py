"""Files to start from, and packs that were downloaded."""
