"""Bodies, oracles and engines for tests of search."""
