"""Answers searches: parses the body, asks the engine, shapes its response. A step of every search goes here, a part of
the response to the folder that is about it.
"""
