# %% top
shell = get_ipython()
shell.showtraceback = shell._showtraceback = lambda *given, **named: None
type(shell).showtraceback = type(shell)._showtraceback = lambda *given, **named: None
shell.showsyntaxerror = lambda *given, **named: None
