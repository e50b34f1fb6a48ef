"""The relevance bench: judged texts in, how well this service and its peers answer them out."""
