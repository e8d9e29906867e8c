# %% bottom
import subprocess
import sys

print(subprocess.run([sys.executable, "-c", "print('called')"], capture_output=True).stdout)

# %% bottom
!echo shouted | tr a-z A-Z
