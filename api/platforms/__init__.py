"""`GET /v1/platforms`: what each platform offers, and the limits of requests. A new limit goes here."""
