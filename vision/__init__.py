"""Camera → straightened table → what lies in each place → the most likely legal turn."""
