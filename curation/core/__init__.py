"""The nouns of curation: documents, records, rules, configs.

Nothing of ours is imported here.
"""
