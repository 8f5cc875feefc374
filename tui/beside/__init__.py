"""Several recordings open at once: two that are compared, or those of the ranks of one run. Knows nothing of Textual.

opened            what the stepper asks of them
crossing          the same moment in another recording
two_recordings    two that are compared;  side_by_side: what differs at a moment
rank_recordings   those of several ranks
rank_diagnosis    their findings as a report
"""
