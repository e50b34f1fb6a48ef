"""Changes and orders beside a load, and the lock of who is at work."""
