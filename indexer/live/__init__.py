"""Live changes: upsert and delete in every index that needs them. What a change of single items does goes here,
wherever the change comes from.
"""
