"""Providers of models: one file each."""
