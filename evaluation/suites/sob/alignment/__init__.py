"""Arrays of an answer in another order: which item answers which?"""
