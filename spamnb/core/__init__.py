"""The native core, one extension: bytes of mail to features, counts and scores."""
