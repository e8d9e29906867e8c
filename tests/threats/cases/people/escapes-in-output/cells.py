# %% bottom
print("\x1b[2J\x1b]0;owned\x07\x00\ud800 end")
