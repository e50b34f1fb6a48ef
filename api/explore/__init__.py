"""The page `/explore`, on which people search and order in the sandbox: what serves it; its scripts are in `static`."""
