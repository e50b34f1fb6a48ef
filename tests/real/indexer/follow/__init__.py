"""Streams on a real engine, and on a real Kafka."""
