"""ConCodeEval: does a model understand a schema that is written five ways?

The benchmark of "ConCodeEval: Evaluating Large Language Models for Code Constraints in
Domain-Specific Languages" (Kammakomati, Pimparkhede et al., IBM Research and IIT
Bombay). A schema is given as JSON, YAML, XML, Python or natural language. In its first
task a model writes a sample that satisfies it, as JSON, YAML or XML; in its second it
says whether a given sample does.
"""
