"""The tables of a store, and the steps that bring an older store up to date."""
