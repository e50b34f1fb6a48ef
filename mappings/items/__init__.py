"""The gear item: its shape, its parts in listing and product, the tokens of its attachments, its digest."""
