"""What operators add to how texts are read: terms, pins and hides, and searches without results. A new
kind of entry goes here.
"""
