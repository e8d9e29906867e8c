"""How the course becomes a site: notebooks kept normal, and the book built, pruned and served."""
