"""`GET /v1/platforms`: what each platform offers, and the limits of requests. A limit is defined in its feature."""
