"""Requests and responses whatever they are about: the wire, the envelope, CORS, the OpenAPI description."""
