"""To the phone and into a running Anki."""
