"""`cw chat`: a conversation with a model, on a terminal or in a pipe."""
