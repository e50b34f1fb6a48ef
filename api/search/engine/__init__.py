"""The search engine: its client, its answers, its hits as gear items. All questions to OpenSearch go through here."""
