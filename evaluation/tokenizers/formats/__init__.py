"""The formats in which vocabularies come, one file each."""
