"""The project after chapter 08: a GPT of one's own, from an empty cell."""
