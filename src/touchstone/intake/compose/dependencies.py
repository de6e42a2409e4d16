"""A Compose service's neighbours as dependencies of a scenario, with the variables that name them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from touchstone.intake.compose.project import ComposeService
from touchstone.intake.parts import DraftDependency, slug

POSTGRES = re.compile(
    r"postgres(ql)?|postgis|timescaledb(-ha)?|pgvector(o-rs)?|citus|spilo(-\d+)?|postgres-.*|alloydb.*|pgautoupgrade"
)
KAFKA = re.compile(r"kafka|cp-kafka|cp-server|kafka-native|redpanda")
PART_OF_KAFKA = re.compile(r"zookeeper|cp-zookeeper")
_USUAL_PORTS = {"postgres": 5432, "kafka": 9092}
_PROGRAMS: Mapping[re.Pattern[str], tuple[str, ...]] = {
    re.compile(r"redis(-stack-server)?"): (
        *("redis-server", "--port", "{port}", "--bind", "{host}"),
        *("--dir", "{folder}", "--save", ""),
    ),
    re.compile(r"valkey"): (
        *("valkey-server", "--port", "{port}", "--bind", "{host}"),
        *("--dir", "{folder}", "--save", ""),
    ),
    re.compile(r"nats"): ("nats-server", "-a", "{host}", "-p", "{port}"),
}
"""By image, the command of a program that needs no more than its port."""
_PORTS_OF = {
    **dict.fromkeys(("redis", "valkey", "redis-stack-server"), 6379),
    **{"nats": 4222, "mysql": 3306, "mariadb": 3306, "mongo": 27017, "rabbitmq": 5672, "memcached": 11211},
    **{"elasticsearch": 9200, "opensearch": 9200, "minio": 9000, "mailhog": 1025, "mailpit": 1025},
}
_SCHEMES = {
    "postgres": "url",
    "postgresql": "postgresql_url",
    "postgis": "url",
    "postgresql+psycopg": "psycopg_url",
    "postgresql+asyncpg": "asyncpg_url",
    "postgres+asyncpg": "asyncpg_url",
    "jdbc:postgresql": "jdbc_url",
    "r2dbc:postgresql": "r2dbc_url",
}
_SCHEME = re.compile(r"(jdbc:|r2dbc:)?[a-z][a-z0-9+.-]*(?=://)")
_USER = re.compile(r"(USER|USERNAME|USR|LOGIN)$")
_PASSWORD = re.compile(r"(PASSWORD|PASS|PWD|PASSWD)$")
_DATABASE = re.compile(r"(DATABASE|DB|DBNAME|NAME|DATABASE_NAME|DB_NAME)$")
_OF_A_DATABASE = re.compile(r"(^|_)(PG|POSTGRES|POSTGRESQL|DB|DATABASE|SQL|DATASOURCE)(_|$)|^PG[A-Z]+$")
_HOST = re.compile(r"(HOST|HOSTNAME|SERVER|SERVERS|ADDR|ADDRESS|ENDPOINT|URL|URI|BROKERS?|NODES?)$")
_PORT = re.compile(r"PORT$")


def kind_of(service: ComposeService) -> str:
    """The kind of dependency that a service is."""
    if POSTGRES.fullmatch(service.image):
        return "postgres"
    return "kafka" if KAFKA.fullmatch(service.image) else "process"


def dependency(service: ComposeService, env: Mapping[str, str], *, only: bool) -> DraftDependency:
    """A service as a dependency of one with this environment. `only` means no other of its kind."""
    kind = kind_of(service)
    found = {name: filled for name, value in env.items() if (filled := _addressed(name, value, service, kind))}
    hosts = {name for name, value in found.items() if value == "{host}"}
    ports = {str(port) for port, _ in service.ports} | {str(_usual_port(service, kind))}
    for name, value in env.items():
        beside = any(_words(host)[:-1] == _words(name)[:-1] for host in hosts)
        if _PORT.search(name) and value in ports and (beside or (only and _OF_A_DATABASE.search(name))):
            found[name] = "{port}"
    if kind == "postgres":
        found |= _login(service, env, found, only=only)
        return _postgres(service, found)
    return _broker(service, found) if kind == "kafka" else _program(service, env, found)


def _words(name: str) -> list[str]:
    return re.split(r"_|(?<=[a-z])(?=[A-Z])", name)


def _usual_port(service: ComposeService, kind: str) -> int | None:
    named = next((port for image, port in _PORTS_OF.items() if service.image.startswith(image)), None)
    return _USUAL_PORTS.get(kind, named)


def _addressed(name: str, value: str, service: ComposeService, kind: str) -> str | None:
    """The value with places instead of the dependency's address; None if it does not name it."""
    hosts = "|".join(map(re.escape, sorted(service.hosts, key=len, reverse=True)))
    if value in service.hosts and _HOST.search(name.upper()):
        return "{host}"
    before = r"(?:(?<=://)|(?<=@)|(?<=,)|(?<=[Hh]ost=)|(?<=[Ss]erver=)|(?<=[Aa]ddress=))"
    match = re.search(rf"{before}(?:{hosts})(?::\d+)?(?![\w.-])|^(?:{hosts}):\d+(?![\w.-])", value)
    if match is None:
        return None
    if kind == "postgres":
        scheme = _SCHEME.search(value)
        if scheme is not None:
            return f"{{{_SCHEMES.get(scheme[0], 'url')}}}"
        if re.search(r"(?i)\bhost=", value):
            return "{ado}" if ";" in value else "{dsn}"
    if kind == "kafka" and "://" not in value:
        return "{bootstrap}"
    place = "{host}:{port}" if ":" in match[0] else "{host}"
    return value[: match.start()].replace("{", "{brace}") + place + value[match.end() :].replace("{", "{brace}")


def _login(service: ComposeService, env: Mapping[str, str], found: Mapping[str, str], *, only: bool) -> dict[str, str]:
    """The variables that name user, password and database, by their values or by their names."""
    own = {name.removeprefix("POSTGRESQL_").removeprefix("POSTGRES_"): v for name, v in service.environment.items()}
    user = own.get("USER") or own.get("USERNAME") or "postgres"
    values = {"user": user, "password": own.get("PASSWORD"), "database": own.get("DB") or own.get("DATABASE") or user}
    made: dict[str, str] = {}
    for name, value in env.items():
        if name in found:
            continue
        upper = "_".join(_words(name)).upper()
        forms = (("password", _PASSWORD), ("user", _USER), ("database", _DATABASE))
        part = next((part for part, words in forms if words.search(upper)), None)
        if part and _OF_A_DATABASE.search(upper) and (only or value == values[part]):
            made[name] = f"{{{part}}}"
    return made


def _postgres(service: ComposeService, found: Mapping[str, str]) -> DraftDependency:
    env = next((name for name, value in found.items() if value == "{url}"), None)
    variables = {name: value for name, value in found.items() if name != env}
    guesses = [] if found else ["no variable of the service names it"]
    guesses.append("`schema` takes the SQL that a fresh database needs")
    if service.image not in ("postgres", "postgresql"):
        guesses.append(f"it was {service.keys.get('image')}, whose extensions touchstone's own server may lack")
    return DraftDependency(
        slug(service.name), "postgres", env or _free("POSTGRES_URL", found), variables, {}, "; ".join(guesses)
    )


def _broker(service: ComposeService, found: Mapping[str, str]) -> DraftDependency:
    env = next((name for name, value in found.items() if value == "{bootstrap}"), None)
    variables = {name: value for name, value in found.items() if name != env}
    topic = next((name for name in found if name.upper().endswith("TOPIC")), None)
    return DraftDependency(
        slug(service.name),
        "kafka",
        env or _free("KAFKA_BROKERS", found),
        variables,
        {"topic": "events", "partitions": 1},
        "" if topic else "`topic` is the one that the service uses",
    )


def _program(service: ComposeService, env: Mapping[str, str], found: Mapping[str, str]) -> DraftDependency:
    run = next((words for image, words in _PROGRAMS.items() if image.fullmatch(service.image)), None)
    secured = any(re.search(r"PASS", name) for name in service.environment) or "requirepass" in str(
        service.keys.get("command")
    )
    run = None if secured else run
    whole = next((name for name, value in found.items() if "{host}:{port}" in value), None)
    variables = {name: value for name, value in found.items() if name != whole}
    form = found[whole] if whole else "{host}:{port}"
    env_name = whole or _free(f"{slug(service.name).replace('-', '_').upper()}_ADDRESS", found)
    name = slug(service.name)
    if run:
        return DraftDependency(name, "process", env_name, variables, {"run": list(run), "address": form})
    inner, outer = next(iter(service.ports), (_usual_port(service, "process"), None))
    named = re.search(r"(?:^|[@/,])[\w.-]+:(\d+)", env.get(whole or "", ""))
    inner = int(named[1]) if named else inner
    outer = dict(service.ports).get(inner, outer) if inner else outer
    start = f"`docker compose up -d {service.name}` starts it: touchstone does not"
    guess = start if outer else f"{start}; publish its port there, and write the port here"
    address = form.replace("{host}", "127.0.0.1").replace("{port}", str(outer or inner or 1))
    return DraftDependency(name, "process", env_name, variables, {"address": address.replace("{brace}", "{")}, guess)


def _free(name: str, found: Mapping[str, str]) -> str:
    return name if name not in found else f"TOUCHSTONE_{name}"


def needed_by(service: ComposeService, services: Mapping[str, ComposeService]) -> Sequence[ComposeService]:
    """The services that one talks to: those that it depends on, and those whose names its environment has.

    The only service that is built also talks to the databases and brokers that no other service depends on.
    """
    named = [services[name] for name in service.needed if name in services]
    if [one for one in services.values() if "build" in one.keys] == [service]:
        others = {name for one in services.values() if one is not service for name in one.needed}
        stores = [one for one in services.values() if kind_of(one) != "process" or one.image in _PORTS_OF]
        named += [one for one in stores if one.name not in others and one is not service and one not in named]
    for other in services.values():
        if other is service or other in named:
            continue
        kind = kind_of(other)
        if any(_addressed(name, value, other, kind) for name, value in service.environment.items()):
            named.append(other)
    return named
