# %% top
shell = get_ipython()
shell.ask_exit()
kernel = getattr(shell, "kernel", None)
if kernel is not None:
    kernel.do_shutdown(False)
exit()
