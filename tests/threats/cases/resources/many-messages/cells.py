# %% top
for number in range(1_000_000):
    print(number)
