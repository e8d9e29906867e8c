# %% top
%matplotlib inline
!echo from a shell
import asyncio

await asyncio.sleep(0.01)

# %% bottom
%time sum(range(10))

# %% bottom
%%timeit -n 1 -r 1
sum(range(10))
