"""SQLite and Postgres: connections, transactions, schema."""
