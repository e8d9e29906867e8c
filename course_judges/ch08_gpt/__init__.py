"""How the tasks of chapter 08 are judged: right answers, and wrong ones by name.

`sections` lists the sections that a finding can recommend.
"""
