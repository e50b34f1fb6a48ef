"""Streams without end: changes from stdin or a Kafka topic, written in small batches. A new kind goes here."""
