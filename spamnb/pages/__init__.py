"""What all pages have in common: colours, elements, numbers, plots, and a message with its evidence."""
