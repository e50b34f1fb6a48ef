"""New orders: what is accepted, refused, limited and answered again."""
