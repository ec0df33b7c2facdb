"""Does a response keep to what its row asks for? One module a rule.

A response is read in this order: thinking is taken away (`evaluation.answers`), the
code block is found (`fences`), the value is read (`json_answers`, `yaml_answers`), what
stands around it is looked at (`commentary`), then the outermost shape and the number of
items (`shape`), and last every field (`schema_walk`). `verify` calls them in turn; each
one returns what it found, and nothing found is a pass.
"""
