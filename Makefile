# The course's commands. `make` alone lists them; CONTRIBUTING.md says when each is wanted.

SERVE ?= 1
PORT ?= 8000
SOLUTIONS ?= 0
RUN = .venv/bin/python -m

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help book test chapters release format clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  make book takes SERVE=0 (only build), PORT=9000, SOLUTIONS=1 (self-study edition), PYTHON=..."

book: ## set up, build the book and serve it on http://localhost:8000
	@sh setup/environment.sh
	@$(RUN) setup.book_site --port $(PORT) $(if $(filter 0,$(SERVE)),--no-serve) $(if $(filter 0,$(SOLUTIONS)),,--solutions)

test: ## set up, then run every test with one summary (ARGS="-k play" for some)
	@sh setup/test.sh $(ARGS)

chapters: ## run chapters and solutions anew and store their outputs
	@sh setup/environment.sh tests
	@$(RUN) course_grader.notebooks run book solutions examples

release: ## generate exercises/ from solutions/
	@sh setup/environment.sh
	@$(RUN) course_grader.cli release

format: ## format and lint the code, normalise the notebooks
	@sh setup/environment.sh tests
	@$(RUN) ruff format .
	@$(RUN) ruff check --fix .
	@$(RUN) course_grader.notebooks normalise book solutions exercises examples

clean: ## remove the built site and caches; keeps .venv
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
