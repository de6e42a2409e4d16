"""What the files of platforms say of a service: the command that starts it, its ports, the variables that it needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from touchstone.failure import UsageError
from touchstone.intake.service.command import (
    DeployedCommand,
    assignments,
    command_of_words,
    is_portable,
    resolved_script,
    shell,
)
from touchstone.intake.service.reading import (
    read_json,
    read_source,
    read_toml,
    read_yaml,
    table_at,
    tables_at,
    text_at,
    texts_at,
)

_PROCESS = re.compile(r"^(web|release):\s*(.+)$", re.MULTILINE)
_COMPOSE = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
_UNITS = ("*.service", "deploy*/*.service", "systemd/*.service", "contrib/*.service", "etc/*.service", "dist/*.service")
_UNIT_LINE = re.compile(r"^(ExecStart|Environment|WorkingDirectory)=[-@:+!]*(.+)$", re.MULTILINE)
_MANIFESTS = (
    *("k8s", ".k8s", "kubernetes", "kube", "manifests", "kustomize", "deploy", "deployment", "deployments", "deploy/*"),
    *("k8s/*", "kubernetes/*", "manifests/*", "kustomize/*", "infra/k8s", "deploy/*/*"),
)
_CHARTS = ("chart", "charts/*", "helm", "helm/*", "deploy/chart", "deploy/helm", "deploy/charts/*", "deploy/helm/*")
_WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "Pod", "Service", "Rollout")
_OF_OTHERS = re.compile(
    r"(?:.*/)?(?:postgres|mysql|mariadb|redis|valkey|mongo|rabbitmq|kafka|nginx|traefik|envoy|busybox|memcached|minio|"
    r"elasticsearch|prom|grafana|jaeger|cloud-sql-proxy|localstack)[^/]*"
)
"""Images of what a service talks to, or of what stands before it."""
_HELM_PORTS = (
    *(("containerPort",), ("service", "containerPort"), ("service", "targetPort"), ("service", "internalPort")),
    *(("targetPort",), ("app", "port"), ("container", "port"), ("service", "port")),
)


@dataclass(frozen=True)
class DeploymentFile:
    """What one file says."""

    source: str
    run: DeployedCommand | None = None
    ports: Sequence[int] = ()
    wanted: Sequence[str] = ()
    """Variables that are given where it is deployed, by a value that the file does not have."""


def procfile(service: Path) -> Iterator[DeploymentFile]:
    """A Procfile's process `web`."""
    lines = dict(_PROCESS.findall(read_source(service / "Procfile")))
    if "web" in lines:
        found = resolved_script(shell(lines["web"].strip(), "Procfile"), service)
        release = [lines["release"].strip()] if "release" in lines else []
        yield DeploymentFile("Procfile", replace(found, before=[*release, *found.before]))


def platforms(service: Path) -> Iterator[DeploymentFile]:
    """Deployment files of Fly.io, Render, Heroku, Railway, App Engine, DigitalOcean, systemd, Compose and
    Kubernetes.
    """
    for read in (_fly, _render, _heroku, _railway, _app_engine, _digital_ocean, _units, _compose, _kubernetes, _helm):
        yield from read(service)


def _deployment_file(
    service: Path,
    source: str,
    line: object,
    env: Mapping[str, Any],
    *,
    ports: Iterable[object] = (),
    wanted: Iterable[str] = (),
) -> DeploymentFile:
    """A command as a text or a list of words, with what is set for it."""
    given = {name: str(value) for name, value in env.items() if isinstance(value, str | int) and "$" not in str(value)}
    run = None
    if isinstance(line, str) and line.strip():
        run = shell(line.strip(), source, given)
    elif isinstance(line, list) and line and all(isinstance(word, str) for word in line):
        run = command_of_words(line, source, given)
    numbers = [port for port in map(_number, ports) if port]
    kept = {name: value for name, value in given.items() if is_portable(name, value)}
    run = run and resolved_script(replace(run, env={**kept, **run.env}), service)
    return DeploymentFile(source, run, list(dict.fromkeys(numbers)), list(dict.fromkeys(wanted)))


def _number(stated: object) -> int | None:
    """A port within a container, of `80`, `"8080:80"` or `"127.0.0.1:8080:80/tcp"`."""
    last = str(stated).split("/")[0].rpartition(":")[2]
    last = re.sub(r"^\$\{\w+:?-?(\d*)\}$", r"\1", last)
    return int(last) if last.isdecimal() and 0 < int(last) < 65536 else None


def _fly(service: Path) -> Iterator[DeploymentFile]:
    for held in _toml(service / "fly.toml"):
        processes = table_at(held, "processes")
        line = processes.get("web") or processes.get("app") or table_at(held, "experimental").get("cmd")
        ports = [table_at(held, "http_service").get("internal_port")]
        ports += [one.get("internal_port") for one in tables_at(held, "services")]
        yield _deployment_file(service, "fly.toml", line, table_at(held, "env"), ports=ports)


def _render(service: Path) -> Iterator[DeploymentFile]:
    for held in read_yaml(service / "render.yaml"):
        for one in tables_at(held, "services"):
            if one.get("type") == "web" and text_at(one, "rootDir") in ("", ".", "./"):
                env, wanted = _listed(one, "envVars", "key")
                yield _deployment_file(service, "render.yaml", one.get("startCommand"), env, wanted=wanted)


def _listed(held: Mapping[str, Any], key: str, name: str) -> tuple[dict[str, Any], list[str]]:
    """The variables of a list, and the names of those that have no value in it."""
    named = [one for one in tables_at(held, key) if isinstance(one.get(name), str) and not _is_of_kubernetes(one)]
    given = {one[name]: one["value"] for one in named if isinstance(one.get("value"), str | int)}
    return given, [one[name] for one in named if one[name] not in given]


def _is_of_kubernetes(variable: Mapping[str, Any]) -> bool:
    """Whether a value is one that Kubernetes knows of the pod itself."""
    return any(key in table_at(variable, "valueFrom") for key in ("fieldRef", "resourceFieldRef"))


def _heroku(service: Path) -> Iterator[DeploymentFile]:
    for held in read_yaml(service / "heroku.yml"):
        web = table_at(held, "run").get("web")
        yield _deployment_file(service, "heroku.yml", table_at(web).get("command", web), {})
    variables = table_at(_json(service / "app.json"), "env")
    wanted = [name for name, one in variables.items() if isinstance(one, dict) and _is_open(one)]
    if wanted:
        yield DeploymentFile("app.json", wanted=wanted)


def _is_open(variable: Mapping[str, Any]) -> bool:
    return variable.get("required", True) is True and not variable.get("value")


def _railway(service: Path) -> Iterator[DeploymentFile]:
    for name, held in (
        ("railway.json", _json(service / "railway.json")),
        *(("railway.toml", held) for held in _toml(service / "railway.toml")),
    ):
        yield _deployment_file(service, name, table_at(held, "deploy").get("startCommand"), {})
    for held in _toml(service / "nixpacks.toml"):
        yield _deployment_file(
            service, "nixpacks.toml", table_at(held, "start").get("cmd"), table_at(held, "variables")
        )


def _app_engine(service: Path) -> Iterator[DeploymentFile]:
    for held in read_yaml(service / "app.yaml"):
        if "runtime" in held:
            yield _deployment_file(service, "app.yaml", held.get("entrypoint"), table_at(held, "env_variables"))


def _digital_ocean(service: Path) -> Iterator[DeploymentFile]:
    for held in read_yaml(service / ".do/app.yaml"):
        for one in tables_at(held, "services"):
            env, wanted = _listed(one, "envs", "key")
            yield _deployment_file(
                service, ".do/app.yaml", one.get("run_command"), env, ports=[one.get("http_port")], wanted=wanted
            )


def _units(service: Path) -> Iterator[DeploymentFile]:
    for file in _files(service, _UNITS):
        lines = _UNIT_LINE.findall(read_source(file).replace("\\\n", " "))
        env = dict(assignments([value for key, value in lines if key == "Environment"]))
        start = next((value for key, value in lines if key == "ExecStart"), "")
        yield _deployment_file(service, file.relative_to(service).as_posix(), start, env)


def composed_dockerfiles(service: Path) -> list[str]:
    """The Dockerfiles by which Compose builds a service of the whole folder."""
    return [file for _, one in _composed(service) if (file := text_at(one, "build", "dockerfile"))]


def _compose(service: Path) -> Iterator[DeploymentFile]:
    for name, one in _composed(service):
        given = one.get("environment")
        env = given if isinstance(given, dict) else dict(assignments(texts_at(one, "environment")))
        ports = [*_list(one.get("ports")), *_list(one.get("expose"))]
        targets = [table_at(port).get("target", port) for port in ports]
        yield _deployment_file(service, name, one.get("command"), env, ports=targets)


def _composed(service: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The services that Compose builds of the whole folder, each with its file's name."""
    for name in _COMPOSE:
        for held in read_yaml(service / name):
            for one in table_at(held, "services").values():
                build = one.get("build") if isinstance(one, dict) else None
                context = build if isinstance(build, str) else text_at(build, "context")
                if build is not None and (service / (context or ".")).resolve() == service.resolve():
                    yield name, one


def _kubernetes(service: Path) -> Iterator[DeploymentFile]:
    for file in _files(service, [f"{folder}/*.y*ml" for folder in _MANIFESTS]):
        for held in read_yaml(file):
            if held.get("kind") not in _WORKLOADS:
                continue
            spec = table_at(held, "spec", "template", "spec") or table_at(held, "spec")
            for one in tables_at(spec, "containers"):
                if _OF_OTHERS.fullmatch(text_at(one, "image")):
                    continue
                env, wanted = _listed(one, "env", "name")
                ports = [port.get("containerPort") for port in tables_at(one, "ports")]
                line = [*_list(one.get("command")), *_list(one.get("args"))] if one.get("command") else None
                yield _deployment_file(
                    service, file.relative_to(service).as_posix(), line, env, ports=ports, wanted=wanted
                )


def _helm(service: Path) -> Iterator[DeploymentFile]:
    for file in _files(service, [f"{folder}/values.y*ml" for folder in _CHARTS]):
        for held in read_yaml(file):
            if not _OF_OTHERS.fullmatch(text_at(held, "image", "repository")):
                ports = [table_at(held, *keys[:-1]).get(keys[-1]) for keys in _HELM_PORTS]
                yield _deployment_file(service, file.relative_to(service).as_posix(), None, {}, ports=ports)


def _files(service: Path, patterns: Sequence[str]) -> list[Path]:
    return list(dict.fromkeys(path for pattern in patterns for path in sorted(service.glob(pattern)) if path.is_file()))


def _list(held: object) -> list[Any]:
    return held if isinstance(held, list) else []


def _json(file: Path) -> dict[str, Any]:
    try:
        return read_json(file) if file.is_file() else {}
    except UsageError:
        return {}


def _toml(file: Path) -> Iterator[dict[str, Any]]:
    try:
        yield from [read_toml(file)] if file.is_file() else []
    except UsageError:
        return
