def change(notebook, given):
    for name in ("--help", "-rf", "$(touch planted)", "`touch planted`", "a\nb", "*", "..."):
        given.extra[name] = "odd"
    given.extra["/".join(["deep"] * 60) + "/x.txt"] = "odd"
