"""What is measured. A new run goes here."""
