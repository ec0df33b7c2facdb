"""Runs handed on: tables, MaskBench's files, a Bowtie report, plots, a page."""
