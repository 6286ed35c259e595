"""Turns ladder documents into Anki decks that keep their review history."""

__version__ = "0.1.0"
