"""IFStruct: does a model follow a request for structured output, to the letter?

A row asks for a few items of one kind (`3 berth bookings`) and says in one of many ways
which fields they have and how the answer is to look; only structure is judged, and a
row passes as a whole or not at all. The suite follows Sam Paech and others, "IFStruct:
Measuring structured-output compliance" (Liquid AI, 2026). What was published is a test
file and a verifier; the generator, its kinds of things and its phrasings are ours.
"""
