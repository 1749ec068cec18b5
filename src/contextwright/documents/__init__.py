"""Reading bytes: safe JSON, files, zips, huge documents piece by piece. Knows no messages."""
