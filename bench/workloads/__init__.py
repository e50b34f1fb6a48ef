"""The search bodies of each workload. A new workload goes here."""
