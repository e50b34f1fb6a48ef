"""Callbacks: payload, signing, schedule, delivery, and what protects both sides."""
