"""Which schemas? Twelve families of them, drawn with a seed."""
