def change(notebook, given):
    page = "{{ cycler.__init__.__globals__.os.system('touch planted') }}<script>alert(1)</script>"
    for name in ("feedback.html.j2", "index.html.j2", "base.html.j2", "formgrade.html.j2"):
        given.extra[name] = page
        given.extra[f"templates/feedback/{name}"] = page
    given.extra["templates/feedback/conf.json"] = '{"base_template": "."}'
    notebook.metadata["title"] = page
