"""Search bodies and responses as pydantic models. A new request field goes here."""
