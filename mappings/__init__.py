"""The contract between the writer and the reader of the index: its shape, its names, its address."""
