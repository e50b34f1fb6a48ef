"""What every route shares: bodies, parameters, request ids, error handlers, OpenAPI, pages. A rule of every request or
response goes here, whatever the route is about.
"""
