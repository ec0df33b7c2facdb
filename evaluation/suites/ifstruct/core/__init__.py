"""What a row asks for, as values: fields, fence, format, count, wrapper."""
