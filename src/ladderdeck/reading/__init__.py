"""From bytes and texts to values that know their place: packs, settings, answers, drills."""
