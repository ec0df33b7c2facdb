"""Models on servers: providers, requests, answers, and adapted schemas."""
