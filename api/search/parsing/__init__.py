"""Query parsing: text to terms and quantities. Pure. A new way to write something goes here."""
