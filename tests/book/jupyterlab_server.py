"""A JupyterLab of its own for a test: a copy of the notebooks, no settings of the tester.

And the two things that every test does in it: open a notebook, and run a cell.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from playwright.sync_api import TimeoutError as NotInTime
from reader import ROOT

START_SECONDS = 120
ANSWER_MILLISECONDS = 120_000

# Keys pressed while JupyterLab still moves the focus reach no cell, so they are pressed again.
START_MILLISECONDS = 10_000
PRESSED_AT_MOST = 12

# JupyterLab with nothing of the tester's own: every cell on the page, no news, no suggestions.
SETTINGS = {
    "@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension/notification.jupyterlab-settings": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
}


@contextlib.contextmanager
def jupyterlab_server(tmp_path, *folders):
    """Address of a JupyterLab in a copy of some folders of the course, with its own profile."""
    folder = tmp_path / "course"
    for name in folders:
        shutil.copytree(ROOT / name, folder / name)
    for name, values in SETTINGS.items():
        path = tmp_path / "config" / "lab" / "user-settings" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {
        "JUPYTER_CONFIG_DIR": tmp_path / "config",
        "JUPYTER_DATA_DIR": tmp_path / "data",
        "JUPYTER_RUNTIME_DIR": tmp_path / "runtime",
        "IPYTHONDIR": tmp_path / "ipython",
        "HOME": tmp_path,
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    command += ["--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"]
    with (tmp_path / "lab.log").open("w") as log:
        running = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | {key: str(value) for key, value in own.items()},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(address, running, tmp_path / "lab.log")
        yield address
    finally:
        running.terminate()
        try:
            running.wait(timeout=20)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def wait_for(address, running, log):
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"{address}/api", timeout=5).close()
        except OSError:
            assert running.poll() is None, log.read_text()
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"JupyterLab did not answer within {START_SECONDS} s:\n{log.read_text()}")


def open_notebook(lab, visit, path, count):
    """A reader in JupyterLab with nothing else open, and the notebook's `count` cells."""
    reader = visit(lab, viewport={"width": 1300, "height": 900})
    page = reader.page
    page.set_default_timeout(ANSWER_MILLISECONDS)
    page.goto(f"{lab}/lab/tree/{path}?reset")
    cells = page.locator(".jp-NotebookPanel:visible .jp-Notebook .jp-Cell")
    cells.nth(count - 1).wait_for(state="attached")
    # The status bar: before it names the kernel, running a cell asks which one is meant.
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    return reader, cells


def run(page, cell):
    """Run a cell, and wait until the kernel is done with it."""
    prompt = cell.locator(".jp-InputPrompt")
    before = prompt.inner_text()
    for _ in range(PRESSED_AT_MOST):
        prompt.click()
        page.keyboard.press("ControlOrMeta+Enter")
        changed = "([prompt, before]) => prompt.innerText !== before"
        with contextlib.suppress(NotInTime):
            page.wait_for_function(
                changed, arg=[prompt.element_handle(), before], timeout=START_MILLISECONDS
            )
            break
    else:
        pytest.fail(f"the cell with the prompt {before!r} does not run")
    page.wait_for_function("prompt => !prompt.innerText.includes('*')", arg=prompt.element_handle())
