# %% bottom
print("<script>alert('SCRIPT')</script>")
Bad = type("<script>alert('SCRIPT')</script>", (Exception,), {})
raise Bad("<script>alert('SCRIPT')</script>")
