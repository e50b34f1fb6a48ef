"""Callbacks of orders and of saved searches: payload, signing, schedule, delivery, and what protects both sides. What
holds for every callback goes here, whoever filled the outbox.
"""
