"""What every route shares: bodies, parameters, request ids, error handlers, OpenAPI, pages."""
