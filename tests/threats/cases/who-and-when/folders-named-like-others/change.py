import json


def change(notebook, given):
    empty = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    for who in ("000-neighbour", "002-neighbour", "~ last"):
        given.extra[f"{who}/{given.assignment}/{given.assignment}.ipynb"] = empty
        given.extra[f"submitted/{who}/{given.assignment}/{given.assignment}.ipynb"] = empty
