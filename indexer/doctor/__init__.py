"""The doctor: facts to findings, findings to repairs. A new finding goes here."""
