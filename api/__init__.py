"""The way from requests to answers: reads the index, takes orders; never writes a catalogue."""
