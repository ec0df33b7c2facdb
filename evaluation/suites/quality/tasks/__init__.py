"""The three tasks of the paper's section 6: one file a task."""
