#!/usr/bin/env bash
# apache-otava 0.8.0: one empty cell in a CSV loses every column's change points, with exit code 0
#
# Forty rows with a step of 40 % in column `a`. Without a gap Otava reports the step. With one empty cell in the unrelated
# column `b` it prints an error, analyses no column at all, and still exits with 0, so a CI job that reads the exit code passes.
source "$(dirname "$0")/common"
python_with apache-otava==0.8.0
cat > otava.yaml <<'YAML'
tests:
  demo: {type: csv, file: data.csv, time_column: time, attributes: [commit], metrics: {a: {}, b: {}}}
YAML
table() { # the row whose cell in column b is left empty
  echo time,commit,a,b
  for row in $(seq 0 39); do
    b=50; [ "$row" = "$1" ] && b=
    echo "2026-01-$(printf %02d $((row / 2 + 1))) $(printf %02d $((row % 2 * 12))):00:00,c$row,$((100 + row % 3 + row / 20 * 40)),$b"
  done
}
analyse() { OTAVA_CONFIG=otava.yaml env/bin/otava analyze demo --since 2025-01-01; }

table none > data.csv
analyse > whole.txt 2>&1
grep -q '+39' whole.txt || { echo "changed: the step of 40 % is not reported"; cat whole.txt; exit 1; }

table 5 > data.csv
status=0; analyse > gap.txt 2>&1 || status=$?
if [ "$status" = 0 ] && ! grep -q '+39' gap.txt && grep -q 'could not convert' gap.txt; then
  echo "as described: exit code $status, no change point: $(grep -o 'Could not convert.*' gap.txt)"
else
  echo "changed: exit code $status"; cat gap.txt; exit 1
fi
