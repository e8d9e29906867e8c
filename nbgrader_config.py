"""How nbgrader sees the course. Every `nbgrader` command, formgrader and `course` read this file.

Run them (and JupyterLab) in this folder. The folders of a class, `submitted/`, `autograded/`,
`feedback/` and `gradebook.db`, appear beside it and are not part of the course.
"""

from course_grader.formgrader import guard

c = get_config()  # noqa: F821 - nbgrader provides it

# formgrader would run settings, and send pages, that lie in folders of students: where it is
# loaded, this closes both.
guard()

# The name under which gradebooks and exports know the course. Change it before the first class.
c.CourseDirectory.course_id = "averages-to-transformers"

# solutions/NN-name/NN-name.ipynb is written by hand, exercises/NN-name/NN-name.ipynb is what
# release makes of it: `course release`, `nbgrader generate_assignment` and formgrader agree.
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"

# `nbgrader generate_assignment` and formgrader's button put private tasks in, and inspect what they
# release, as `course release` does.
c.GenerateAssignment.exporter_class = "course_grader.preprocess.WithPrivateTasks"

# What replaces a solution in the released notebook. An answer that raises NotImplementedError
# counts as "not attempted".
c.ClearSolutions.code_stub = {
    "python": "raise NotImplementedError  # replace this line with your answer"
}
c.ClearSolutions.text_stub = "YOUR ANSWER HERE"

# `nbgrader autograde` and formgrader's button run a notebook in the sandbox of `course grade` and
# let the same judge award the points. nbgrader's own steps would run it with your rights, would
# trust what it says, and would copy every file beside it to where other programs look for settings.
c.Autograde.exporter_class = "course_grader.preprocess.UnopenedNotebook"
c.Autograde.sanitize_preprocessors = []
c.Autograde.autograde_preprocessors = ["course_grader.preprocess.RunAndJudge"]

# Of what lies in autograded/, pages of feedback are made of the graded notebook alone.
c.GenerateFeedback.exporter_class = "course_grader.preprocess.FeedbackOnly"

# What being late costs: nothing, until you say how many percent of the points earned are taken for
# each day that has begun. A plugin of your own can replace it.
c.AssignLatePenalties.plugin_class = "course_grader.gradebook.late_policy.PercentPerDay"
# c.PercentPerDay.percent_per_day = 10
# c.PercentPerDay.grace_minutes = 15
# c.PercentPerDay.most_percent = 100

# What `nbgrader validate` may take for one cell. Answers return within two seconds; importing torch
# on a busy machine is what takes time.
c.Execute.timeout = 120

# The first keeps the history of notebooks out of the instructor's own; the second leaves out a
# warning that the kernel talks to this machine without encryption.
c.Execute.extra_arguments = ["--HistoryManager.hist_file=:memory:", "--IPKernelApp.log_level=40"]

# How `course grade` and the button grade a class; what a line says is the default. The command's
# options come before these.
# Where your students read the book: feedback then links to the sections to read again. The address
# is that of its front page without index.html, for example "https://example.org/course".
# c.CourseGrade.book = ""
# When assignments are due: {"01-averages": "2026-03-01 10:00 +01:00"}. For those that are not named
# here, the gradebook's date counts, as formgrader sets it.
# c.CourseGrade.due = {}
# Whose days are counted when something is late: a day ends when clocks there show the same time
# again, also where they were changed in between.
# c.CourseGrade.timezone = "UTC"
# A CSV file in this folder with the columns student, assignment and until: who may hand in later.
# c.CourseGrade.extensions = ""
# Whether formgrader shows numbers instead of students' names.
# c.CourseGrade.anonymous_marking = False
# A folder, outside of this one, of tasks whose judges students never see; instructor-guide.md says
# what is in it.
# c.CourseGrade.private_tasks = ""
# Submissions that run at once (0: as many as there are cores), and a Dask scheduler whose workers
# run them (empty: this machine does).
# c.CourseGrade.jobs = 0
# c.CourseGrade.scheduler = ""
# "container" runs submissions that run at once in containers, one in each, of an image with this
# release of the course; where-it-runs.md says when that is worth it. The program that runs them is
# docker, or else podman, if none is named.
# c.CourseGrade.isolation = "process"
# c.CourseGrade.image = "averages-to-transformers"
# c.CourseGrade.container_runtime = ""
# What is read of a submission at all: a larger notebook is set aside unopened.
# c.CourseGrade.notebook_megabytes = 10
# What a submission may use: `python -m pydoc course_tasks.runner.limits` gives the
# reason of each limit.
# c.CourseGrade.cell_seconds = 60.0
# c.CourseGrade.total_seconds = 300.0
# c.CourseGrade.memory_megabytes = 2048
# c.CourseGrade.processes = 64
# c.CourseGrade.file_megabytes = 256
# c.CourseGrade.files = 20000
# c.CourseGrade.output_kilobytes = 100
# c.CourseGrade.picture_kilobytes = 2048
# c.CourseGrade.answer_megabytes = 64

# The gradebook; the default is gradebook.db in this folder. `--db` comes before it.
# c.CourseDirectory.db_url = "postgresql+psycopg://grader@localhost/class"
