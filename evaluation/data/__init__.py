"""The schemas and instances that engines are measured with, wherever they stand."""

from evaluation.data.dataset import Choice, Dataset
from evaluation.data.opening import open_data

__all__ = ["Choice", "Dataset", "open_data"]
