def change(notebook, given):
    notebook.metadata["kernelspec"] = {"name": "fortran", "display_name": "F", "language": "f"}
    notebook.metadata["language_info"] = {"name": "fortran"}
