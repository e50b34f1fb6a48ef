"""What is asked of OpenSearch: bulk, retries, scans, generations, tombstones. A new request of the writer goes here,
whatever it is about.
"""
