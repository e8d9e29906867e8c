"""What pip is told on this machine, in words for uv.

`setup/environment.sh` evaluates what `python setup/pip_settings.py` prints: environment variables,
and `no_index`, for which uv has an option alone. uv reads neither pip.conf nor PIP_INDEX_URL, on
purpose; whoever had to tell pip of a mirror or of a certificate never asked for uv, and should not
have to tell it again.
"""

import ast
import os
import shlex
import subprocess
import sys

# pip's name of a setting: uv's variable, and what uv wants between the parts where pip takes many.
VARIABLES = {
    "index-url": ("UV_DEFAULT_INDEX", None),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "constraint": ("UV_CONSTRAINT", " "),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "cert": ("SSL_CERT_FILE", None),
    "client-cert": ("SSL_CLIENT_CERT", None),
    "proxy": ("ALL_PROXY", None),
    "timeout": ("UV_HTTP_TIMEOUT", None),
    "default-timeout": ("UV_HTTP_TIMEOUT", None),
    "no-cache-dir": ("UV_NO_CACHE", None),
}


def settings(listed):
    """What holds for `pip install`.

    Parameters
    ----------
    listed : str
        What `pip config list` printed: lines like `global.index-url='https://…'`.

    Returns
    -------
    dict of str to str
        By pip's names, such as "index-url".
    """
    found = {}
    # What is said for all of pip's commands gives way to what is said for `install`, and that to
    # what pip's own environment variables say.
    for section in ("global", "install", ":env:"):
        for line in listed.splitlines():
            place, _, value = line.partition("=")
            of, _, name = place.partition(".")
            if of == section and name:
                found[name] = ast.literal_eval(value)
    return found


def variables(settings, present=()):
    """The variables that tell uv the same.

    Parameters
    ----------
    settings : dict of str to str
        What `settings` returned.
    present : container of str
        Variables that are set already, and stay as they are.

    Returns
    -------
    dict of str to str
        By the variables' names.
    """
    found = {}
    for name, value in settings.items():
        if name in VARIABLES:
            variable, between = VARIABLES[name]
            found[variable] = between.join(value.split()) if between else value.strip()
    if "UV_INDEX" in found:
        # As pip does: the best version wins, wherever it is.
        found["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    return {name: value for name, value in found.items() if value and name not in present}


def main():
    """Print them as a shell reads them."""
    pip = [sys.executable, "-m", "pip", "config", "list", "--disable-pip-version-check"]
    listed = subprocess.run(pip, capture_output=True, text=True, check=True).stdout
    told = settings(listed)
    for name, value in variables(told, os.environ).items():
        print(f"export {name}={shlex.quote(value)}")
    if told.get("no-index", "").lower() in {"1", "true", "yes", "on", "t", "y"}:
        print("no_index=--no-index")


if __name__ == "__main__":
    main()
