"""Cursor pagination over a point in time. What has to hold from page to page goes here."""
