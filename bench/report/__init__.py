"""What becomes of measured figures: files, tables on the terminal, and docs/benchmarks.md with its picture. A new table
or picture goes here.
"""
