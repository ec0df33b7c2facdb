"""The rules, one file each; `curation.rules.sets` finds and orders them."""
