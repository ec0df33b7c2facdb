"""`python -m curation` is `csbdata`."""

from csbdata import main

if __name__ == "__main__":
    main()
