"""What operators add to how texts are read: terms, pins and hides, and the texts that were searched for in vain. A new
kind of entry goes here.
"""
