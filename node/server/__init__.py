"""What runs: the OpenSearch files and the Java runtime, fetched, checked and unpacked. A new version of either, or a
further file to fetch, goes here.
"""
