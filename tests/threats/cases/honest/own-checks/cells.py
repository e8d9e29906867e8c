# %% after-each
from course_tasks import check

verdict = check("TASK", NAME)
print(verdict)
went_on = True

# %% bottom
assert went_on
