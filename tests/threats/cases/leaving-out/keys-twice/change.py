import json


def change(notebook, given):
    whole = json.dumps(notebook)
    given.content = whole.replace("{", '{"cells": [], "nbformat": 3, "metadata": {}, ', 1).encode()
