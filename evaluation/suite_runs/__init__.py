"""One run of a suite: records asked, answers written, scored, and kept in a folder."""
