"""One module a command of `course`: what it takes, what it shows, and its exit code."""
