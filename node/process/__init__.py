"""The running node: its configuration, its process, and the commands that start and end it. What configures, starts,
watches or ends the node goes here.
"""
