#!/usr/bin/env bash
# ruptures 1.1.10: of a series with one step, at 23, Pelt reports two changes, at 20 and 25
#
# Pelt looks at each fifth point alone (`jump=5`), as all searches do except KernelCPD. A step between two of these points is
# divided into two. Series of benchmark results are short, so this matters. With `jump=1` the step is found where it is.
source "$(dirname "$0")/common"
python_with ruptures==1.1.10
seen=$(env/bin/python - <<'PY'
import numpy
import ruptures
noise = [(3 * i) % 7 / 2 - 1.5 for i in range(40)]
series = numpy.array([100.0] * 23 + [140.0] * 17) + noise
def changes(**options):
    return ruptures.Pelt(model="l2", **options).fit(series).predict(pen=30)[:-1]
print(f"changes at {changes()}, with jump=1 at {changes(jump=1)}")
PY
)
compare "changes at [20, 25], with jump=1 at [23]" "$seen"
