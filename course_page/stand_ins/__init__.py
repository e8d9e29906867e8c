"""Small packages that stand in, in a page, for those that are compiled or of no use there.

`course_page.archive` packs each folder and module of here at the top of the archive.
"""
