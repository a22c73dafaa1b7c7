"""Cards that are drawn, laid and photographed, and whole games of them as a camera sees them."""
