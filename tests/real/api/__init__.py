"""The API against real servers, but searches and orders."""
