"""Graded tasks of chapter 08: a GPT, from its settings to the text it writes."""
