"""Models behind servers: providers, requests, answers, and adapted schemas."""
