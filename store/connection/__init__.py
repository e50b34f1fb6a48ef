"""How the database is reached: address, drivers, transactions, errors."""
