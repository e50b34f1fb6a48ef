"""What is asked of OpenSearch: bulk, retries, scans, generations, deletes. A new request of the writer goes here,
whatever it is about.
"""
