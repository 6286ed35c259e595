"""The values that everything passes along: documents, notes, paths, problems, and the names of tags."""
