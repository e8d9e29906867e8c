"""How the tasks of chapter 04 are judged: right answers, and wrong ones by name.

`sections` says where a finding sends its reader, `outcomes` what an error said.
"""
