def change(notebook, given):
    given.folder_link = given.root / "solutions" / given.assignment
