"""Products of generations: written before the listings that name them, and looked up by proof and doctor. What writes,
completes or compares products goes here.
"""
