# %% before-each
for number in range(500):
    print("step", number)
