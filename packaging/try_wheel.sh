#!/bin/sh
# Installs the wheel of a folder on a machine that has no compiler, and puts each part of it to use.
# Usage: try_wheel.sh FOLDER; as root, in a container that may be thrown away.
set -eu

if ! command -v python3.11 >/dev/null && ! python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))'; then
  if command -v dnf >/dev/null; then
    dnf install -y -q python3.11 python3.11-pip
  fi
fi
if command -v apt-get >/dev/null && ! python3 -c 'import ensurepip' 2>/dev/null; then
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends python3 python3-venv >/dev/null
fi
python=$(command -v python3.11 || command -v python3)
for tool in cargo rustc cc; do
  if command -v "$tool" >/dev/null; then
    echo "this machine has $tool: it cannot show that the wheel needs none" >&2
    exit 2
  fi
done

"$python" -m venv there
there/bin/pip install --quiet --find-links "$1" touchstone-lab
PATH="$PWD/there/bin:$PATH"

touchstone --version
touchstone list >/dev/null
touchstone-engine null --port 18080 &
server=$!
sleep 1
touchstone load http://127.0.0.1:18080/ --duration 2 --connections 8
touchstone probe http://127.0.0.1:18080/ >/dev/null || [ $? -eq 3 ]
kill "$server"
touchstone new my-service --stack python
status=0
touchstone run ./my-service --quick || status=$?
# A busy machine can make a figure invalid, which is what 4 says.
[ "$status" -eq 0 ] || [ "$status" -eq 4 ]
ls results/*/report.html
