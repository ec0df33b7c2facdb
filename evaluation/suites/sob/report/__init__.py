"""What a run of the suite, or several, amounts to: tables and plots."""
