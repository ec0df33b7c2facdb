"""The rules of the rule set `paper`, one file each."""
