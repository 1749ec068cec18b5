"""Model replies and their streams: read, written, and translated between APIs."""
