# %% top
print(open("ROOT/gradebook.db", "rb").read(15))
