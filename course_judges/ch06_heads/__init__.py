"""How the tasks of chapter 06 are judged: right answers, and wrong ones by name.

`sections` says where a finding sends its reader, `wording` how numbers of a run are told,
`attention` holds the head that tasks build on, `drops` and `variants` the answers of the last two,
`draws` what became of dropped heads.
"""
