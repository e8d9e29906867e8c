# %% top
import os
import site

code = "import builtins; print('PLANTED START')\nbuiltins.PLANTED = True\n"
folders = [os.path.expanduser("~/.ipython/profile_default/startup"), site.getusersitepackages()]
folders += site.getsitepackages()
for folder, name in zip(folders, ["00.py", "usercustomize.py", "sitecustomize.py"]):
    try:
        os.makedirs(folder, exist_ok=True)
        open(os.path.join(folder, name), "w").write(code)
    except OSError:
        pass
