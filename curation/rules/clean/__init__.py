"""The rules of the rule set `clean`, one file each."""
