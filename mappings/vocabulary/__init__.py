"""What buyers of a platform write: words, spellings and what they mean. A new kind of word goes here."""
