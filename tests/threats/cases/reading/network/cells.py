# %% top
import socket

try:
    with socket.create_connection(("127.0.0.1", PORT), timeout=2) as door:
        print(door.recv(1000))
except OSError:
    print("no " + "way out")
