"""Generations: their definitions, export, rollback, restore and pruning."""
