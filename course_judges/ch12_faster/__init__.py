"""How the tasks of chapter 12 are judged: right answers, and wrong ones by name.

`sections` says where a finding sends its reader, `numbers` quotes what is off in an answer.
"""
