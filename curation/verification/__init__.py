"""Does a dataset folder hold what it says, and nothing that it must not?"""

from curation.verification.core.findings import Finding, Verification
from curation.verification.run import verify_folder

__all__ = ["Finding", "Verification", "verify_folder"]
