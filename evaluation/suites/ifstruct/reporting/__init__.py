"""What a run of IFStruct amounts to: one module a question."""
