"""An order from its first state to its erasure, and who may see and move it."""
