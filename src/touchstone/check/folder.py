"""The check of a whole scenario folder."""

from __future__ import annotations

from collections.abc import Collection

from touchstone.check.problem import Problem, in_order, refuse
from touchstone.check.requests import check_requests
from touchstone.check.scenario import check_scenario
from touchstone.check.stack import check_stack
from touchstone.check.templates import check_templates
from touchstone.manifest.catalogue import ScenarioFolder
from touchstone.manifest.files import SCENARIO_FILE


def check_folder(folder: ScenarioFolder) -> list[Problem]:
    """All problems of a scenario and its stacks, by file and line. Raises TouchstoneError if there is no engine."""
    file = folder.folder / SCENARIO_FILE
    found = [
        *check_templates(file, folder.scenario),
        *check_requests(file, folder.scenario),
        *check_scenario(file, folder),
    ]
    for stack in folder.stacks:
        found += check_stack(stack, folder.scenario)
    return in_order(found)


def refuse_problems(folder: ScenarioFolder, stacks: Collection[str]) -> None:
    """Raise ManifestError with all problems of the scenario and the named stacks, if any.

    Where none of its stacks is among them, as with services that run already, its dependencies are not started, and
    may lack what they need.
    """
    others = {stack.folder for stack in folder.stacks if stack.name not in stacks}
    found = [problem for problem in check_folder(folder) if problem.file.parent not in others]
    if len(others) == len(folder.stacks):
        found = [problem for problem in found if problem.key[:1] != ("dependencies",)]
    refuse(found, "the manifests", f"`touchstone check {folder.folder}` looks again")
