"""The referee's balance: beads weighed by the frequency at which a platform swings."""
