"""Task `test-suite`: the official JSON Schema Test Suite."""
