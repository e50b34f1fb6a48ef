"""Searches that clients have saved, and what of the change feed they match. A statement on either goes here."""
