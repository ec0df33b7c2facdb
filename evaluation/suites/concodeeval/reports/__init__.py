"""What is reported? The paper's tables, and what they leave out."""
