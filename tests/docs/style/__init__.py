"""How the pages are written: words, sentences, and the forms of the CHANGELOG and the decisions."""
