"""Quality: right answers with and without a constraint.

Section 6 of the JSONSchemaBench paper (arXiv 2501.10868), after Tam et al. 2024
(arXiv 2408.02442) and the answer to it by Kurt 2024.
"""
