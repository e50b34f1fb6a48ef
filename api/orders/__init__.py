"""Orders: routes, rules, transitions and lists; the background work around them. A rule of every order goes here."""
