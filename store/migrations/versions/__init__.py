"""One file a migration, by number; the last number is `REVISION` in `store/schema.py`."""
