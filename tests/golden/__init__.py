"""Recorded runs, and what judge and report made of them: a change that should change nothing is seen to change nothing.

`runs/` holds packed runs without their logs, as the code of their time wrote them; `expected/` holds the judgement and
every report. `python -m tests.golden` rewrites `expected/` and README's first screen after an intended change;
`python -m tests.golden pack FOLDER` adds a run.
"""
