"""The service at size: three secured nodes with two copies, loaded, changed, and robbed of one part after the other."""
