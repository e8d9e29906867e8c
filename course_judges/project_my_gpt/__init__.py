"""How a GPT of one's own is judged: from outside, whatever it looks like inside."""
