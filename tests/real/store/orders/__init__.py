"""Orders in the store: claims, retries, personal data."""
