"""Relevance: how well this service and its peers answer judged texts."""
