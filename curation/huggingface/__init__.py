"""The Hugging Face Hub's client: sessions, retries, errors, snapshots."""
