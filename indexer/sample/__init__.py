"""Sample listings made from a catalogue, seeded. What listings are drawn from, and how, goes here."""
