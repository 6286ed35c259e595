"""All cards in one page."""
