"""What a request holds, made to fit its budget."""
