"""Changes and who follows them: sources, a broker, readers, and the processes of a shop that may be killed."""
