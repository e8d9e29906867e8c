# %% bottom
import matplotlib.pyplot as plt
from IPython.display import HTML, display
from matplotlib.animation import FuncAnimation

figure, axes = plt.subplots(figsize=(2, 2), dpi=40)
(line,) = axes.plot([0, 1], [0, 1])
film = FuncAnimation(figure, lambda n: line.set_ydata([0, n]), frames=2)
page = film.to_jshtml()
plt.close(figure)
print("frames", page.count("data:image/png"))
