# %% top
import os

found = [
    os.path.join(folder, name)
    for folder in ("/usr", "/usr/local", "/usr/share", "/usr/lib", "/usr/local/share", "/opt")
    if os.path.isdir(folder)
    for name in os.listdir(folder)
]
# What Python itself needs: programs, shared objects, letters, zones, languages.
own = ("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/share", "/usr/local")
own += ("/usr/share/fonts", "/usr/share/fontconfig", "/usr/share/zoneinfo", "/usr/lib/locale")
own += ("/usr/local/lib", "/usr/local/bin", "/opt/course")
strangers = [
    one
    for one in found
    if one not in own and "-linux-" not in one and "python" not in one and ".so" not in one
]
try_all({one: lambda one=one: os.stat(one) for one in strangers})
