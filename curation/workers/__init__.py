"""Work in child processes: how it is isolated, limited, batched and resumed."""
