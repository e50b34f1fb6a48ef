"""An item to an index document, or the reasons for its refusal. A new field goes here."""
