"""A submission's folder full of files that some program reads as configuration or as code.

Each leaves a mark when it is run or rendered, so that a test can tell which one was.
"""

import json
import os
from pathlib import Path

# Names that Python, Jupyter, IPython, nbgrader, pytest and Matplotlib look for, and modules that an
# import would find in the working directory.
PROGRAMS = (
    "nbgrader_config.py",
    "jupyter_config.py",
    "jupyter_server_config.py",
    "jupyter_nbconvert_config.py",
    "jupyter_notebook_config.py",
    "ipython_config.py",
    ".ipython/profile_default/ipython_config.py",
    ".ipython/profile_default/startup/00-first.py",
    ".jupyter/nbgrader_config.py",
    ".jupyter/jupyter_nbconvert_config.py",
    "sitecustomize.py",
    "usercustomize.py",
    "conftest.py",
    "nbgrader.py",
    "nbformat.py",
    "nbconvert.py",
    "torch.py",
    "numpy.py",
    "json.py",
    "ipykernel_launcher.py",
    "course_lib/__init__.py",
    "course_grader/__init__.py",
    "setup.py",
)

# Folders in which nbconvert would look for its templates, if this were its working directory.
TEMPLATES = ("feedback", "formgrade", "classic", "lab", "base", "nbconvert/templates/classic")


def plant(folder, mark):
    """Fill a folder; whatever of it is run appends its own name to the file `mark`.

    Parameters
    ----------
    folder : Path
        For example `submitted/eve/01-averages`.
    mark : Path
        Does not exist as long as nothing was run.
    """
    folder = Path(folder)
    for name in PROGRAMS:
        write(folder / name, f"open({str(mark)!r}, 'a').write({name!r} + '\\n')\n")
    for name in TEMPLATES:
        call = f"cycler.__init__.__globals__.os.system('echo template {name} >> {mark}')"
        for file in ("index.html.j2", "base.html.j2", "null.j2"):
            write(folder / name / file, "{{ " + call + " }}")
        write(folder / name / "conf.json", json.dumps({"mimetypes": {"text/html": True}}))
    kernel = {"argv": ["/bin/sh", "-c", f"echo kernel >> {mark}"], "display_name": "x"}
    write(folder / "kernels" / "python3" / "kernel.json", json.dumps({**kernel, "language": "py"}))
    write(folder / "matplotlibrc", "backend: module://nbgrader\n")
    write(folder / "jupyter_config.json", json.dumps({"Exporter": {"preprocessors": ["nbgrader"]}}))
    page = "<script>document.title = 'owned'; window.owned = true</script>"
    for name in ("index.html", "page.html", "picture.svg"):
        write(folder / name, page)


def link_out(folder, secret):
    """Links that lead out of a folder: to a file, to a folder, and to what never ends."""
    folder = Path(folder)
    os.symlink(secret, folder / "innocent.txt")
    os.symlink(Path(secret).parent, folder / "data")
    os.symlink("/dev/zero", folder / "zero.bin")


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
