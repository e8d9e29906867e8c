"""Answers that students give, one module a chapter, named as its package in `course_tasks`.

Each module holds
- RIGHT: task -> style -> answer; at least three styles, all worth full points;
- WRONG: task -> mistake -> answer; one for each mistake the judge names, in words of its own;
- ODD: task -> list of (answer, finding): wrong in a way that no mistake explains, and the
  property that is said of it;
- TRICKS, where there are some: task -> name -> (answer, points): ways to points without the work
  that they are for, and what they earn, which is nothing or what their honest part is worth;
- SCAFFOLD: task -> the unfilled answer, as it is released.
"""
