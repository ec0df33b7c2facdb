"""How the values of two schemas relate: by proof, otherwise by values."""
