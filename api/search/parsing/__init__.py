"""Query parsing: text to terms, quantities and relaxations. Pure. A new way to write something goes here."""
