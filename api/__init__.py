"""From requests to responses: reads the index and takes orders. Of its folders only `catalogue` writes items."""
