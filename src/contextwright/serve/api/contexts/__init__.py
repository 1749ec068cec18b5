"""What is built from a conversation: a request, all of them, two compared, their cost."""
