"""Fields compared as what they are: names, amounts, dates, sets.

After ExtractBench (Ferguson et al., 2026), whose schemas say at each field how it is
to be compared. Figures of these comparisons are reported apart.
"""
