"""The rules, one file each; `curation.rulesets` finds and orders them."""
