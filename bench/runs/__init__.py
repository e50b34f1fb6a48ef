"""What is measured: each module runs one kind of benchmark and returns its figures. A new kind goes here."""
