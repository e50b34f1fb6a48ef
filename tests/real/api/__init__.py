"""The API against real servers, but searches and orders: what each route does that no folder here is about."""
