"""What runs: the OpenSearch files and the Java runtime, fetched, checked and unpacked."""
