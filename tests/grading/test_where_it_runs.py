"""Image, services, manifests and batch script say the same, and name nothing that is not there.

No daemon builds the image here, and no cluster takes the manifests: what they refer to is looked
up, and the batch script runs with programs that stand in for the cluster's own.
"""

import fnmatch
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CLUSTER = ROOT / "setup" / "cluster"
PAGE = (ROOT / "book" / "where-it-runs.md").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
KEYS = {
    "DASK_DISTRIBUTED__COMM__TLS__CA_FILE",
    *(
        f"DASK_DISTRIBUTED__COMM__TLS__{who}__{what}"
        for who in ("SCHEDULER", "WORKER", "CLIENT")
        for what in ("CERT", "KEY")
    ),
}


def instructions():
    """Each instruction of the Dockerfile with its words, continued lines joined."""
    text = re.sub(r"\\\n\s*", "", DOCKERFILE)
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.partition(" ")[0], line.partition(" ")[2].strip()) for line in lines]


def manifests():
    text = (CLUSTER / "kubernetes.yaml").read_text(encoding="utf-8")
    return {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(text)}


def kept_out():
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


class TestImage:
    def test_what_is_copied_is_there_and_not_kept_out(self):
        copied = [w for name, w in instructions() if name == "COPY" for w in w.split()[:-1]]
        assert copied
        for name in copied:
            assert (ROOT / name).exists(), name
            assert not any(fnmatch.fnmatch(name, pattern) for pattern in kept_out()), name

    def test_nothing_of_a_class_can_get_in(self):
        ignored = {line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines()}
        own = {"submitted", "autograded", "feedback", "gradebook.db*", "reports", "exports"}
        assert own <= ignored
        assert own <= set(kept_out())

    def test_steps_are_programs_and_the_last_user_is_an_ordinary_one(self):
        for name, words in instructions():
            if name == "RUN":
                done = subprocess.run(["sh", "-n", "-c", words], check=False)
                assert done.returncode == 0, words
        users = [words for name, words in instructions() if name == "USER"]
        assert users[-1:] == ["grader"]
        assert any("useradd" in words and "grader" in words for _, words in instructions())

    def test_python_is_one_that_the_course_supports(self):
        (image,) = (words for name, words in instructions() if name == "FROM")
        assert re.match(r"python:3\.1[1-9](\.\d+)?-", image)


class TestServices:
    def test_each_service_is_of_the_image_and_none_has_the_rights_of_the_host(self):
        for name, service in COMPOSE["services"].items():
            assert service["image"] == "averages-to-transformers", name
            assert service["cap_drop"] == ["ALL"], name
            assert not {"privileged", "pid", "ipc", "userns_mode"} & service.keys(), name
            assert service.get("network_mode") != "host"
            assert "docker.sock" not in str(service)

    def test_flags_are_those_that_the_guide_explains_and_only_where_student_code_runs(self):
        options = re.findall(r"^> +--security-opt (\S+)", PAGE, re.MULTILINE)
        assert len(options) == 3
        for name, service in COMPOSE["services"].items():
            runs = name in ("grader", "worker", "cluster-grader")
            assert (service.get("security_opt", []) == options) == runs, name
            assert service.get("cap_add", []) == (["SETUID", "SETGID"] if runs else []), name
        assert re.findall(r"--cap-add (\S+)", PAGE) == ["SETUID", "SETGID"]

    def test_cluster_talks_with_keys_only(self):
        for name in ("scheduler", "worker", "cluster-grader"):
            service = COMPOSE["services"][name]
            assert service["environment"].keys() == {
                "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION",
                *KEYS,
            }
            assert any(":/keys:ro" in volume for volume in service["volumes"]), name


class TestManifests:
    def test_service_and_policy_select_what_there_is(self):
        found = manifests()
        labels = {
            name: one["spec"]["template"]["metadata"]["labels"]
            for (kind, name), one in found.items()
            if kind == "Deployment"
        }
        assert labels.keys() == {"scheduler", "worker", "grader"}
        for name, own in labels.items():
            wanted = found["Deployment", name]["spec"]["selector"]["matchLabels"]
            assert wanted.items() <= own.items()
            policy = found["NetworkPolicy", "graders-only"]["spec"]["podSelector"]["matchLabels"]
            assert policy.items() <= own.items()
        service = found["Service", "scheduler"]["spec"]
        assert service["selector"].items() <= labels["scheduler"].items()

    def test_each_pod_has_limits_keys_and_no_account(self):
        found = manifests()
        assert KEYS <= found["ConfigMap", "course-tls"]["data"].keys()
        images = set()
        for (kind, name), one in found.items():
            assert one["metadata"]["namespace"] == "grading"
            if kind != "Deployment":
                continue
            pod = one["spec"]["template"]["spec"]
            (container,) = pod["containers"]
            images.add(container["image"])
            assert {"cpu", "memory"} <= container["resources"]["limits"].keys(), name
            assert pod["automountServiceAccountToken"] is False
            assert pod["securityContext"]["runAsNonRoot"] is True
            assert container["envFrom"] == [{"configMapRef": {"name": "course-tls"}}]
            mounted = {each["name"] for each in container["volumeMounts"]}
            assert mounted == {each["name"] for each in pod["volumes"]}
            claims = [
                v["persistentVolumeClaim"]["claimName"]
                for v in pod["volumes"]
                if "claim" in str(v).lower()
            ]
            assert all(("PersistentVolumeClaim", claim) in found for claim in claims)
        assert len(images) == 1

    def test_scheduler_listens_where_workers_and_the_guide_look(self):
        found = manifests()
        (listens,) = found["Deployment", "scheduler"]["spec"]["template"]["spec"]["containers"]
        (worker,) = found["Deployment", "worker"]["spec"]["template"]["spec"]["containers"]
        (port,) = found["Service", "scheduler"]["spec"]["ports"]
        assert str(port["port"]) in listens["command"]
        assert f"tls://scheduler:{port['port']}" in worker["command"]
        assert worker["securityContext"]["procMount"] == "Unmasked"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl: apt-get install openssl")
def test_certificates_fit_each_other_and_are_never_overwritten(tmp_path):
    def make():
        return subprocess.run(
            ["sh", str(CLUSTER / "certificates.sh"), str(tmp_path / "keys")],
            capture_output=True,
            text=True,
            check=False,
        )

    assert make().returncode == 0
    keys = tmp_path / "keys"
    assert {path.name for path in keys.iterdir()} == {"ca.pem", "cert.pem", "key.pem"}
    assert stat.S_IMODE((keys / "key.pem").stat().st_mode) == 0o600
    done = subprocess.run(
        ["openssl", "verify", "-CAfile", keys / "ca.pem", keys / "cert.pem"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    before = (keys / "key.pem").read_bytes()
    again = make()
    assert (again.returncode, "is there already" in again.stderr) == (1, True)
    assert (keys / "key.pem").read_bytes() == before


STAND_INS = {
    "srun": 'while [ "${1#--}" != "$1" ]; do shift; done\n"$@" & "$@" & wait',
    "dask": (
        'echo "dask $*" >> log\n'
        'if [ "$1" = scheduler ]; then\n'
        '  while [ "$1" != --scheduler-file ]; do shift; done\n'
        '  [ -n "$NO_SCHEDULER" ] && exit 1\n'
        '  echo \'{"address": "tls://10.0.0.1:4321"}\' > "$2"\n'
        "fi"
    ),
    "python": f'[ "$1" = - ] && exec cat > asked\nexec {sys.executable} "$@"',
    "course": 'echo "course $*" >> log\n[ -f "$DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY" ] && '
    'echo "with a key" >> log\nexit ${COURSE_ENDS:-0}',
    "sleep": "exit 0",
}


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl: apt-get install openssl")
class TestSlurm:
    @pytest.fixture
    def run(self, tmp_path):
        programs = tmp_path / "programs"
        programs.mkdir()
        for name, text in STAND_INS.items():
            (programs / name).write_text(f"#!/bin/sh\n{text}\n")
            (programs / name).chmod(0o755)
        shutil.copytree(CLUSTER, tmp_path / "course" / "setup" / "cluster")

        def run(*arguments, **environment):
            known = {"PATH": f"{programs}:{os.environ['PATH']}", "SLURM_JOB_NUM_NODES": "2"}
            return subprocess.run(
                ["bash", str(CLUSTER / "slurm.sh"), *arguments],
                cwd=tmp_path / "course",
                env=os.environ | known | environment,
                capture_output=True,
                text=True,
                check=False,
            )

        return run, tmp_path / "course"

    @pytest.mark.slow
    def test_grades_on_all_nodes_with_keys_that_are_gone_afterwards(self, run):
        script, course = run
        done = script("01", "--force", SLURM_CPUS_PER_TASK="3")
        assert done.returncode == 0, done.stderr
        log = (course / "log").read_text()
        assert log.count("dask worker --scheduler-file") == 2
        assert "--nthreads 3" in log
        assert "course grade 01 --scheduler tls://10.0.0.1:4321 --force\nwith a key" in log
        assert "wait_for_workers(nodes" in (course / "asked").read_text()
        assert not list(course.glob(".slurm-*"))

    @pytest.mark.slow
    def test_failure_of_grading_is_the_jobs_and_leaves_no_keys(self, run):
        script, course = run
        assert script("01", COURSE_ENDS="1").returncode == 1
        assert not list(course.glob(".slurm-*"))

    @pytest.mark.slow
    def test_scheduler_that_does_not_start_is_said(self, run):
        script, course = run
        done = script("01", NO_SCHEDULER="1")
        assert (done.returncode, "did not start" in done.stderr) == (1, True)
        assert "course grade" not in (course / "log").read_text()

    def test_job_without_an_assignment_is_refused(self, run):
        script, _ = run
        assert "say which assignment" in script().stderr
