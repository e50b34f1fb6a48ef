"""Answers searches: parses the body, asks the engine, shapes its response."""
