"""What makes load: wrk, readers of whole results, price changes and orders. A new kind of client goes here."""
