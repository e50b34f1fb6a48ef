"""What operators see of the running service: metrics, logs and traces. A new metric goes here."""
