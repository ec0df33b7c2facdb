"""Verify a dataset folder: its files, rows, ledger, instances, and texts."""

from curation.verification.check import Finding, Verification
from curation.verification.run import verify_folder

__all__ = ["Finding", "Verification", "verify_folder"]
