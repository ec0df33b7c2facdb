"""What a model's device does beside the processor: times, transfers, choices."""
