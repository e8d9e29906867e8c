"""How the tasks of chapter 08 are judged: right answers, and wrong ones by name.

`sections` says where a finding sends its reader.
"""
