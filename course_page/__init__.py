"""Python in the page: everything a browser needs to judge an answer without an installation.

`runtime` says which files of others a page loads and where they come from, `archive` packs the
course for the page, `session` is what a page calls, and `torch_twin` answers to the name `torch`
there. Importing this package alone imports nothing.
"""
