"""Shake-counting as a game: what is played, what is answered, what the answers say, and who is best at it."""
