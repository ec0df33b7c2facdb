"""Records of our own, written by a program from facts that it has drawn.

The truth is known by construction: a family draws facts, writes a context that states
them among others that do not matter, and answers a question about them. Every name is
invented; no text of anybody else is in it. `reader` checks each record as a reader
would, without knowing how it was made.
"""
