# The course's commands. `make` alone lists them; CONTRIBUTING.md says when each is wanted.

SERVE ?= 1
PORT ?= 8000
SOLUTIONS ?= 0
PAGE ?= 1
RUN = .venv/bin/python -m

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help book pdf epub lab test test-all test-fast test-notebooks chapters release format clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  make book takes SERVE=0 (only build), PORT=9000, SOLUTIONS=1 (self-study edition), PAGE=0 (no Python in the page), PYTHON=..."
	@echo "  make lab takes SERVE=0 (only set up), TORCH=cpu (PyTorch without its GPU libraries), PYTHON=..."

book: ## read: set up, build the book and serve it on http://localhost:8000
	@sh setup/environment.sh book
	@$(RUN) setup.book_site --port $(PORT) $(if $(filter 0,$(SERVE)),--no-serve) $(if $(filter 0,$(SOLUTIONS)),,--solutions) $(if $(filter 0,$(PAGE)),--no-page)

pdf: ## print: the whole book as one PDF, with contents and links; needs Chromium
	@sh setup/environment.sh tests
	@$(RUN) setup.paper

epub: ## carry along: the whole book as one EPUB for an e-reader
	@sh setup/environment.sh book
	@$(RUN) setup.ebook

lab: ## learn: set up, open JupyterLab on the exercises
	@TORCH=$(TORCH) sh setup/environment.sh lab
	@$(if $(filter 0,$(SERVE)),:,cd exercises && exec ../.venv/bin/jupyter lab)

test: ## set up everything, then test every promise and what changed (ARGS="-k play" for some)
	@sh setup/test.sh $(ARGS)

test-all: ## run every test that has not passed here as all is now; SHARD=2/4 runs a quarter
	@sh setup/test.sh --all $(if $(SHARD),--shard $(SHARD)) $(ARGS)

test-fast: ## what to run between edits: without browser, sandbox and whole notebooks
	@COURSE_TEST_DRAWS=1 sh setup/test.sh -m "not slow and not browser and not sandbox" $(ARGS)

test-notebooks: ## run the notebooks that changed, and compare their outputs
	@sh setup/test.sh --all tests/notebooks $(ARGS)

chapters: ## run chapters and solutions, and store their outputs
	@sh setup/environment.sh tests
	@$(RUN) course_grader.notebooks run book solutions examples

release: ## generate exercises/ from solutions/
	@sh setup/environment.sh tests
	@$(RUN) course_grader.cli release

format: ## format and lint the code, normalize the notebooks
	@sh setup/environment.sh tests
	@$(RUN) ruff format .
	@$(RUN) ruff check --fix .
	@$(RUN) course_grader.notebooks normalize book solutions exercises examples

clean: ## remove the built site and caches; keeps .venv
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
