# %% bottom
import multiprocessing

context = multiprocessing.get_context("fork")


def square(number):
    return number * number


with context.Pool(2) as pool:
    print("pool", pool.map(square, range(5)))
queue, lock = context.Queue(), context.Lock()


def tell():
    with lock:
        queue.put("from the child")


child = context.Process(target=tell)
child.start()
print(queue.get(timeout=2))
child.join()
