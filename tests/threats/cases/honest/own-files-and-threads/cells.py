# %% bottom
import pathlib
import subprocess
import tempfile
import threading

pathlib.Path("notes.txt").write_text("kept")
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "x").write_text("y")
thread = threading.Thread(target=lambda: None)
thread.start()
thread.join()
subprocess.run(["python", "-c", "print(1)"], check=True)
