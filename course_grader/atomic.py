"""Files of a class are replaced as a whole or not at all; where that fails, it is said in words."""

from __future__ import annotations

from pathlib import Path

from course_grader.errors import NotWrittenError
from course_lib import atomic


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace a file as a whole or not at all; its folder is made if it is not there.

    Parameters
    ----------
    path : Path
    content : str or bytes
        Half of a surrogate pair, which UTF-8 cannot hold, becomes a question mark.

    Raises
    ------
    NotWrittenError
        If there is no room, or no right to write there.
    """
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write_atomically(path, data)
    except OSError as error:
        raise NotWrittenError(
            f"{path} cannot be written: {error.strerror}. The file that was there before is "
            "unchanged. Check the disk's free space and your rights, then run the command again."
        ) from error
