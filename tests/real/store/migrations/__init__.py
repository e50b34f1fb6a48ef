"""Migrations of databases with data."""
