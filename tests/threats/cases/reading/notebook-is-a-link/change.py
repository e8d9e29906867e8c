def change(notebook, given):
    given.link = given.root / "solutions" / given.assignment / f"{given.assignment}.ipynb"
