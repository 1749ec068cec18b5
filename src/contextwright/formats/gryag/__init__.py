"""gryag, a Telegram bot on Gemini."""
