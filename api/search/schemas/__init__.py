"""Search bodies and answers as pydantic models. A new request field goes here."""
