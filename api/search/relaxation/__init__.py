"""Query relaxation: looser parses of a text whose strict parse finds nothing. A new one goes into the module of its
subject, and into its place in `relaxations`.
"""
