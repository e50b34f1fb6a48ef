"""What tests share: fixtures, builders, models, proxies and servers; a folder an area."""
