# %% bottom
%%time
total = sum(range(10_000))

# %% bottom
%timeit -n 5 -r 2 sum(range(1000))

# %% bottom
print("counted", total)
