"""A file that is replaced as a whole or not at all, whoever else reads or writes it."""

import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Write a file under another name and rename it, so that nobody ever sees a part of it.

    Its permissions stay as they were; a new file can be read by everybody.

    Parameters
    ----------
    path : Path
        In a folder that is there.
    content : bytes
    durable : bool
        Wait until the disk holds it: then a power failure, too, leaves the old file or the new one.

    Raises
    ------
    OSError
        If there is no room, or no right to write there; nothing of the draft is left.
    """
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.chmod(draft, mode)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise
