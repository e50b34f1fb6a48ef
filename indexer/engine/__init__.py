"""What is asked of OpenSearch: bulk, retries, scans, generations, deletes."""
