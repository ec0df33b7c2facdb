"""What a document or its collection says of itself: addresses and homes."""
