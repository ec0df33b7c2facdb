"""Suite `passrate`: does a model, only asked to, write JSON that its schema accepts?"""
