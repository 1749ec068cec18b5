"""How models read tools, calls and results: the text that a provider makes of their JSON.

The text never leaves this machine; only its tokens are counted.
"""
