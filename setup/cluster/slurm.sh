#!/bin/bash
# Grades an assignment on nodes of a SLURM cluster; the course's folder lies on a shared disk:
#
#     cd /shared/course && sbatch --nodes 4 setup/cluster/slurm.sh 01
#
# The first node gets the scheduler and the grader beside its worker. Nodes must allow user
# namespaces; `srun -N1 course doctor` says whether one does.
#SBATCH --job-name=course-grade
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=4
#SBATCH --mem-per-cpu=4G
#SBATCH --time=02:00:00
#SBATCH --output=course-grade-%j.log
set -euo pipefail

assignment=${1:?say which assignment: sbatch setup/cluster/slurm.sh 01}
shift
course=${SLURM_SUBMIT_DIR:-$PWD}
cd "$course"
if [ -f .venv/bin/activate ]; then
    # shellcheck disable=SC1091
    . .venv/bin/activate
fi

# Keys of this job alone, on the shared disk, gone when it ends.
scratch=$(mktemp -d "$course/.slurm-XXXXXX")
started=()
clean() {
    for number in "${started[@]}"; do kill "$number" 2>/dev/null || true; done
    wait || true
    rm -rf "$scratch"
}
trap clean EXIT
sh "$course/setup/cluster/certificates.sh" "$scratch/keys" >/dev/null
export DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=true
export DASK_DISTRIBUTED__COMM__TLS__CA_FILE=$scratch/keys/ca.pem
for who in SCHEDULER WORKER CLIENT; do
    export "DASK_DISTRIBUTED__COMM__TLS__${who}__CERT=$scratch/keys/cert.pem"
    export "DASK_DISTRIBUTED__COMM__TLS__${who}__KEY=$scratch/keys/key.pem"
done

dask scheduler --protocol tls --port 0 --no-dashboard --scheduler-file "$scratch/scheduler.json" &
started+=($!)
for _ in $(seq 120); do
    if [ -s "$scratch/scheduler.json" ]; then break; fi
    sleep 0.5
done
if [ ! -s "$scratch/scheduler.json" ]; then
    echo "the scheduler did not start within a minute" >&2
    exit 1
fi

# One worker a node; a node that fails costs its share of the time and no submission.
srun --kill-on-bad-exit=0 dask worker --scheduler-file "$scratch/scheduler.json" \
    --nworkers 1 --nthreads "${SLURM_CPUS_PER_TASK:-2}" --no-dashboard \
    --local-directory "${SLURM_TMPDIR:-/tmp}" &
started+=($!)
address=$(python -c 'import json, sys; print(json.load(open(sys.argv[1]))["address"])' "$scratch/scheduler.json")
python - "$address" "${SLURM_JOB_NUM_NODES:-1}" <<'PYTHON'
import sys

from distributed import Client

address, nodes = sys.argv[1], int(sys.argv[2])
with Client(address, timeout=60) as client:
    try:
        client.wait_for_workers(nodes, timeout=180)
    except TimeoutError:
        if not client.scheduler_info()["workers"]:
            sys.exit("no node started a worker within three minutes: see the log above")
        print("some nodes started no worker; grading with the others", file=sys.stderr)
PYTHON
course grade "$assignment" --scheduler "$address" "$@"
