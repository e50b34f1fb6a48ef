"""The way from requests to answers: reads the index and takes orders. Of its folders only `catalogue` writes items."""
