"""One file an engine, each run by its path inside a worker.

`evaluation.core.engine_protocol` describes such a file.
"""
