"""What commands print: tables and text for a person, JSON for a program."""
