"""Mail on an IMAP server: judging it there, and learning from how its owner moves it."""
