# %% top
from course_tasks.runner import frames

frames.send = lambda *given: None
