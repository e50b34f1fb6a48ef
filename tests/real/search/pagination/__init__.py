"""Pages, cursors and totals."""
