"""Suite `ifstruct-rewrite`: a model rewords the requests of IFStruct.

Its records are rows of IFStruct, and an answer passes if it still says all that its row
asks for, by the check that the texts of our own voices are held to. Answers that pass
take the place of our texts: `csbdata suite ifstruct generate --set rewrites=RUN`.
"""
