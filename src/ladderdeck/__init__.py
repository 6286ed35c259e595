"""Turns ladder documents into Anki decks that keep their review history."""
