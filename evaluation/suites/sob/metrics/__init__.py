"""The figures that one answer gets: the seven metrics, and the five categories."""
