"""What a schema says: dialects, subschemas, features, measures, translation."""
