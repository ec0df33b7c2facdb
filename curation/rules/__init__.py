"""The rules; `curation.rules.sets` finds and orders them."""
