"""Mail on an IMAP server: judged where it lies, learned from where its owner moves it."""
