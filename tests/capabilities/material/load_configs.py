"""Load every config of a dataset on the Hub, and print how many records it has."""

import sys

from datasets import get_dataset_config_names, load_dataset

for name in get_dataset_config_names(sys.argv[1]):
    splits = load_dataset(sys.argv[1], name)
    print(name, sum(len(split) for split in splits.values()))  # noqa: T201 (its output)
