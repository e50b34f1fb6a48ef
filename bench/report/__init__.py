"""What becomes of measured figures: files, tables on the terminal, and docs/benchmarks.md with its picture."""
