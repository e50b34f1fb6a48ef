"""Rate limits: what requests cost, who is charged, and what is left. A new limit on requests goes here."""
