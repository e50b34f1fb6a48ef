"""The search bodies of each workload."""
