"""The database: address, drivers, transactions, errors."""
