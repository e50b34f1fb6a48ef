"""Live changes: upsert and delete in every index that needs them."""
