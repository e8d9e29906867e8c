# %% top
import logging

logging.basicConfig(level=logging.DEBUG, filename="/tmp/own.log", force=True)
logging.getLogger().addHandler(logging.StreamHandler())
logging.info("started")
print(open("/tmp/own.log").read())
