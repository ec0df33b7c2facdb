"""SOB, the Structured Output Benchmark: grounded extraction, seven metrics.

Singh et al., "The Structured Output Benchmark: A Multi-Source Benchmark for Evaluating
Structured Output Quality in Large Language Models". A record is a context, a question,
a JSON Schema and the true answer; an answer is compared with the truth leaf by leaf.
"""
