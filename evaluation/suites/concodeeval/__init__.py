"""ConCodeEval: a schema written in five ways, to be followed and to be judged by.

The benchmark of "ConCodeEval: Evaluating Large Language Models for Code Constraints in
Domain-Specific Languages" (Kammakomati, Pimparkhede et al., IBM Research and IIT
Bombay). A schema is written as JSON, YAML, XML, Python or natural language. In task 1
a model writes a sample that satisfies it, as JSON, YAML or XML; in task 2 it judges a
sample.
"""
