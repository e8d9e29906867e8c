# %% bottom
import asyncio
import threading


async def later(number):
    await asyncio.sleep(0.01)
    return number


print(sum(await asyncio.gather(*(later(n) for n in range(10)))))
found = []
thread = threading.Thread(target=lambda: found.append(asyncio.run(later(7))))
thread.start()
thread.join()
print("waited", found)
