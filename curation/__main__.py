"""`python -m curation` is `csbdata`."""

from curation.cli import main

if __name__ == "__main__":
    main()
