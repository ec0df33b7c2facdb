"""The plots and tables of a folder, drawn by a child process."""
