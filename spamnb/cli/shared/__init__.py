"""What commands share: options and help, mail that they read, progress, files and streams that they write."""
