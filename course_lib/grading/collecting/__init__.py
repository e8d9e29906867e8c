"""From what a learning platform gives to `submitted/`."""
