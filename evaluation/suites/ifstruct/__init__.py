"""IFStruct: requests for structured output, judged to the letter.

A row asks for a few items of one kind (`3 berth bookings`) and describes in one of many
ways their fields and the shape of the answer. Only structure is judged, and a row
passes as a whole or not at all. The suite follows Sam Paech and others, "IFStruct:
Measuring structured-output compliance" (Liquid AI, 2026). Published are a test
file and a verifier; the generator, its kinds of things and its phrasings are ours.
"""
