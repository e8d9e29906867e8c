#!/bin/sh
# Makes the three files with which scheduler, workers and grader know each other:
#
#     setup/cluster/certificates.sh keys
#
# Whoever has key.pem can run programs on the workers: give it to nobody, and make new ones each term.
set -eu
umask 077

target=${1:?say where: setup/cluster/certificates.sh keys}
days=${DAYS:-200}
if [ -e "$target/ca.pem" ]; then
    echo "$target/ca.pem is there already: move it away, or name another folder" >&2
    exit 1
fi
command -v openssl >/dev/null 2>&1 || { echo "openssl is not installed: apt-get install openssl" >&2; exit 1; }
mkdir -p "$target"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

openssl req -x509 -newkey rsa:3072 -nodes -days "$days" -subj "/CN=course graders" \
    -keyout "$work/ca.key" -out "$work/ca.pem" 2>/dev/null
openssl req -newkey rsa:3072 -nodes -subj "/CN=course grader" \
    -keyout "$work/key.pem" -out "$work/cert.csr" 2>/dev/null
openssl x509 -req -in "$work/cert.csr" -CA "$work/ca.pem" -CAkey "$work/ca.key" -CAcreateserial \
    -days "$days" -out "$work/cert.pem" 2>/dev/null
# The key of the authority is thrown away with the folder: nobody can make a fourth party.
mv "$work/key.pem" "$work/cert.pem" "$work/ca.pem" "$target/"
echo "$target: ca.pem, cert.pem, key.pem; good for $days days"
