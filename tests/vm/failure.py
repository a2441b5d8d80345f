class Failure(Exception):
    """What went wrong, as the user shall read it."""
