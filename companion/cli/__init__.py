"""`python -m` and the console script start here."""
