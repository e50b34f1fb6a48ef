"""How the database is reached: address, drivers, transactions, errors. What holds for every transaction goes here;
nothing here knows a table.
"""
