"""From packs, answers and drills to notes."""
