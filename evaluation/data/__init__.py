"""The schemas and instances that engines are measured with."""

from evaluation.core.records import RecordSelection
from evaluation.data.dataset import Dataset
from evaluation.data.find_data import open_data

__all__ = ["Dataset", "RecordSelection", "open_data"]
