"""Suite `ifstruct-ext`: rows that ask for what IFStruct's verifier does not look at."""
