"""Sample listings made from a catalogue, seeded."""
