"""Models behind OpenAI-compatible servers, and the dialects in which one is asked."""
