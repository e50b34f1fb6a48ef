"""Price lists on a real engine."""
