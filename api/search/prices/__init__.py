"""The price list: every name on offer with the number, the prices and the floats of its offers. What counts, stores or
serves it goes here.
"""
