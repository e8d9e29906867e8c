# The course, the grader with its sandbox, and the book, in one image:
#
#     docker build -t averages-to-transformers .
#
# compose.yaml says how it is run, and book/where-it-runs.md which flags that takes and why.
# The digest is that of the whole index, so it holds for every architecture; a newer one is a change.
FROM python:3.11.16-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b

# bubblewrap makes the sandbox. The grader runs as an ordinary user, who owns the class's folder. The
# range that it is lent, for a user for each submission, exists in containers without root, too. The
# two programs that map it get one capability each in place of all of root's, most of which a
# container does not have.
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap uidmap libcap2-bin \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 grader \
    && echo "grader:10000:20000" | tee /etc/subuid > /etc/subgid \
    && chmod u-s /usr/bin/newuidmap /usr/bin/newgidmap \
    && setcap cap_setuid=ep /usr/bin/newuidmap \
    && setcap cap_setgid=ep /usr/bin/newgidmap

WORKDIR /opt/averages-to-transformers

# What changes seldom first: these two layers are built again only when a requirement changes. uv
# knows where PyTorch without its GPU libraries comes from.
COPY requirements.txt requirements-lock.txt ./
RUN pip install --no-cache-dir uv \
    && uv pip install --system --no-cache --torch-backend=cpu \
        --constraint requirements-lock.txt --requirement requirements.txt "distributed>=2024.8"

# Below /opt and in /usr/local the code is readable for everybody and writable for root alone.
COPY . .
RUN uv pip install --system --no-cache --no-deps --editable . \
    && python -m compileall -q course_lib course_tasks course_judges course_grader course_figures \
    && python -m setup.book_site --no-serve \
    && rm -rf _build/jupyter_execute

USER grader
ENV PYTHONDONTWRITEBYTECODE=1
# The folder of a course: nbgrader_config.py, solutions/, exercises/, and what belongs to the class.
WORKDIR /course
CMD ["course", "--help"]
