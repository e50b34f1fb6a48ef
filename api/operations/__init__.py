"""What operators watch in one response: what serves, what is being loaded, what waits, whether the engine is well. A
new figure to watch goes here.
"""
