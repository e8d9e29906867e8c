# %% answer
def NAME(*given, **named):
    raise type("<script>alert('SCRIPT')</script>", (Exception,), {})("<script>alert(1)</script>")
