"""What `spamnb inspect` shows, a module for each thing."""
