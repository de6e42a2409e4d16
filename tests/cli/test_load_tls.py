"""`touchstone load` over TLS on OpenSSL's servers: certificates, names, clients, and failures by name."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from touchstone.engine.locate import engine_path

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made by openssl")

_NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1"
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def _openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def _self_signed(
    folder: Path, name: str, kind: list[str], *, names: str | None = _NAMES, common: str = "localhost"
) -> None:
    extra = ["-addext", names] if names else []
    words = ["req", "-x509", "-newkey", *kind, "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", "9"]
    _openssl(folder, *words, "-subj", f"/CN={common}", *extra)


def _signed(folder: Path, name: str, authority: str) -> None:
    words = ["req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr"]
    _openssl(folder, *words, "-subj", "/CN=localhost")
    (folder / "names").write_text(_NAMES)
    signing = ["-CA", f"{authority}.pem", "-CAkey", f"{authority}.key", "-CAcreateserial", "-extfile", "names"]
    _openssl(folder, "x509", "-req", "-in", f"{name}.csr", *signing, "-days", "9", "-out", f"{name}.pem")


_EC = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
_P521 = ["ec", "-pkeyopt", "ec_paramgen_curve:secp521r1"]


@pytest.fixture(scope="module")
def certs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of certificates, each NAME.pem with NAME.key."""
    folder = tmp_path_factory.mktemp("certs")
    _self_signed(folder, "p256", _EC)
    _self_signed(folder, "p521", _P521)
    _self_signed(folder, "rsa1024", ["rsa:1024"])
    _self_signed(folder, "unnamed", ["rsa:2048"], names=None)
    _self_signed(folder, "shop", _EC, names="subjectAltName=DNS:shop.test,DNS:*.shop.test", common="shop.test")
    # Without extensions openssl makes version 1.
    _openssl(
        folder,
        "req",
        "-new",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        "v1.key",
        "-out",
        "v1.csr",
        "-subj",
        "/CN=localhost",
    )
    _openssl(folder, "x509", "-req", "-in", "v1.csr", "-signkey", "v1.key", "-days", "9", "-out", "v1.pem")
    for authority in ("p521", "rsa1024", "v1"):
        _signed(folder, f"by-{authority}", authority)
    return folder


@contextmanager
def _serving(certs: Path, name: str, setting: Callable[[ssl.SSLContext], object] = bool) -> Iterator[int]:
    """Serve with a certificate on a free port, by a context that `setting` has changed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.load_cert_chain(certs / f"{name}.pem", certs / f"{name}.key")
    setting(context)
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)

    def serve(plain: socket.socket) -> None:
        try:
            with context.wrap_socket(plain, server_side=True) as wrapped:
                while wrapped.recv(65536):
                    wrapped.sendall(_ANSWER)
        except OSError:
            plain.close()

    def accept() -> None:
        while True:
            try:
                plain, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(plain,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()


def _load(folder: Path, port: int, *flags: str, host: str = "localhost") -> subprocess.CompletedProcess[str]:
    words = [flag.replace("PORT", str(port)) for flag in flags]
    command = [str(engine_path()), "load", f"https://{host}:{port}/", "-c2", "-n6", "-d20s", "--json", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def _borne(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["counts"]["ok"] == 6, result["first_errors"]
    return dict(result["tls"])


def _to_1_2(context: ssl.SSLContext) -> None:
    context.maximum_version = ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize("backend", ["epoll", "io_uring"])
@pytest.mark.parametrize("setting", [bool, _to_1_2], ids=["1.3", "1.2"])
@pytest.mark.parametrize("name", ["p256", "p521", "rsa1024", "unnamed", "v1"])
def test_any_certificate_is_taken_unverified_and_where_it_is_the_authority(
    certs: Path, name: str, setting: Callable[[ssl.SSLContext], object], backend: str
) -> None:
    with _serving(certs, name, setting) as port:
        tls = _borne(_load(certs, port, "--backend", backend))
        assert (tls["full"], tls["resumed"]) == (2, 0)
        _borne(_load(certs, port, "--backend", backend, "--cacert", f"{name}.pem"))


@pytest.mark.parametrize("authority", ["p521", "rsa1024", "v1"])
def test_an_authority_may_be_of_any_kind(certs: Path, authority: str) -> None:
    with _serving(certs, f"by-{authority}") as port:
        _borne(_load(certs, port, "--cacert", f"{authority}.pem"))
        refused = _load(certs, port, "--cacert", "p256.pem")
        assert refused.returncode == 1
        assert "unknown authority" in refused.stderr and "--cacert" in refused.stderr


def _demand(of: str, certs: Path, version: ssl.TLSVersion) -> Callable[[ssl.SSLContext], None]:
    def setting(context: ssl.SSLContext) -> None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(certs / f"{of}.pem")
        context.maximum_version = version

    return setting


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("backend", ["epoll", "io_uring"])
def test_a_client_has_a_certificate_or_is_told_to(certs: Path, version: ssl.TLSVersion, backend: str) -> None:
    with _serving(certs, "p256", _demand("p256", certs, version)) as port:
        _borne(_load(certs, port, "--cert", "p256.pem", "--key", "p256.key", "--backend", backend))
        none = _load(certs, port, "--backend", backend)
        assert none.returncode == 1 and "--cert and --key" in none.stderr, none.stderr
        alert = "handshake_failure, 40" if version == ssl.TLSVersion.TLSv1_2 else "certificate_required, 116"
        assert alert in none.stderr
        other = _load(certs, port, "--cert", "v1.pem", "--key", "v1.key", "--backend", backend)
        assert other.returncode == 1 and "unknown_ca, 48" in other.stderr, other.stderr


def test_a_clients_key_has_any_usual_form(certs: Path) -> None:
    _openssl(certs, "rsa", "-traditional", "-in", "v1.key", "-out", "pkcs1.key")
    _openssl(certs, "ec", "-in", "p521.key", "-out", "sec1.key")
    assert "RSA PRIVATE" in (certs / "pkcs1.key").read_text() and "EC PRIVATE" in (certs / "sec1.key").read_text()
    (certs / "both.pem").write_text((certs / "p521.key").read_text() + (certs / "p521.pem").read_text())
    # The client's own certificate goes first, wherever it stands.
    (certs / "chain.pem").write_text((certs / "p256.pem").read_text() + (certs / "v1.pem").read_text())
    for of, words in {
        "v1": ["--cert", "chain.pem", "--key", "pkcs1.key"],
        "p521": ["--cert", "p521.pem", "--key", "sec1.key"],
        "p256": ["--cert", "p256.pem", "--key", "p256.key"],
    }.items():
        with _serving(certs, "p256", _demand(of, certs, ssl.TLSVersion.TLSv1_3)) as port:
            _borne(_load(certs, port, *words))
    with _serving(certs, "p256", _demand("p521", certs, ssl.TLSVersion.TLSv1_2)) as port:
        _borne(_load(certs, port, "--cert", "both.pem"))


def test_a_clients_files_are_refused_by_name_when_they_are_read(certs: Path) -> None:
    _openssl(certs, "pkey", "-in", "v1.key", "-aes128", "-passout", "pass:x", "-out", "enc8.key")
    _openssl(certs, "rsa", "-traditional", "-in", "v1.key", "-aes128", "-passout", "pass:x", "-out", "enc1.key")
    _openssl(certs, "x509", "-in", "v1.pem", "-outform", "der", "-out", "v1.der")
    for words, said in [
        (["--cert", "v1.pem", "--key", "enc8.key"], "enc8.key: the key is encrypted"),
        (["--cert", "v1.pem", "--key", "enc1.key"], "enc1.key: the key is encrypted"),
        (["--cert", "v1.pem", "--key", "p256.key"], "p256.key is not that of the certificate"),
        (["--cert", "v1.pem"], "v1.pem: it holds no private key"),
        (["--cert", "v1.der", "--key", "v1.key"], "DER"),
        (["--cert", "v1.key", "--key", "v1.key"], "v1.key: it holds no certificate"),
        (["--cert", "nowhere.pem"], "nowhere.pem: No such file"),
        (["--key", "v1.key"], "--cert"),
        (["--cacert", "v1.key"], "v1.key: it holds no certificate"),
        (["--sni", "127.0.0.1"], "never sent as a name"),
        (["--resolve", "other.test:1:127.0.0.1"], "another server"),
        (["--connect-to", "nonsense"], "HOST:PORT:HOST:PORT"),
    ]:
        done = _load(certs, 1, *words)
        assert done.returncode == 2, done.stderr
        assert said in done.stderr, done.stderr


def _serves_shop_alone(context: ssl.SSLContext) -> None:
    def look(_socket: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> int | None:
        return None if name and name.endswith("shop.test") else ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME

    context.sni_callback = look


def test_the_name_is_that_of_the_url_or_of_the_flag(certs: Path) -> None:
    with _serving(certs, "shop", _serves_shop_alone) as port:
        trust = ["--cacert", "shop.pem"]
        _borne(_load(certs, port, *trust, "--sni", "shop.test", host="127.0.0.1"))
        _borne(_load(certs, port, *trust, "--resolve", "www.shop.test:PORT:127.0.0.1", host="www.shop.test"))
        _borne(_load(certs, port, *trust, "--connect-to", "shop.test:PORT:127.0.0.1:PORT", host="shop.test"))
        bare = _load(certs, port, host="127.0.0.1")
        assert "unrecognized_name, 112" in bare.stderr and "--sni NAME" in bare.stderr
        wrong = _load(certs, port, "--sni", "x.test", host="127.0.0.1")
        assert "does not serve the name x.test" in wrong.stderr
    with _serving(certs, "shop") as port:
        mismatch = _load(certs, port, *trust, host="127.0.0.1")
        assert "for shop.test, *.shop.test, and not for 127.0.0.1" in mismatch.stderr


def test_the_oldest_version_is_that_of_the_flag(certs: Path) -> None:
    for version, setting in (("1.3", bool), ("1.2", _to_1_2)):
        with _serving(certs, "p256", setting) as port:
            tls = _borne(_load(certs, port, "--tls-min", version))
            assert [one["version"] for one in tls["negotiated"]] == [version]  # type: ignore[attr-defined]
    with _serving(certs, "p256", _to_1_2) as port:
        refused = _load(certs, port, "--tls-min", "1.3")
        assert refused.returncode == 1
        assert "no version of TLS in common" in refused.stderr and "--tls-min 1.2" in refused.stderr
    wrong = _load(certs, 1, "--tls-min", "1.1")
    assert wrong.returncode == 2 and "1.1" in wrong.stderr


@pytest.mark.parametrize("words", [["--sni", "a"], ["--cert", "p256.pem"], ["--tls-min", "1.3"], ["--verify"]])
@pytest.mark.parametrize("command", ["load", "probe"])
def test_flags_about_tls_are_refused_without_it(certs: Path, command: str, words: list[str]) -> None:
    whole = [str(engine_path()), command, "http://127.0.0.1:1/", *words]
    done = subprocess.run(whole, cwd=certs, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "are about https" in done.stderr, done.stderr


def test_what_is_not_in_common_is_named(certs: Path) -> None:
    def cbc(context: ssl.SSLContext) -> None:
        _to_1_2(context)
        context.set_ciphers("AES128-SHA:@SECLEVEL=0")

    with _serving(certs, "v1", cbc) as port:
        said = _load(certs, port).stderr
        assert "handshake_failure, 40" in said and "ECDHE" in said


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_server_of_older_versions_is_named(certs: Path) -> None:
    def old(context: ssl.SSLContext) -> None:
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1

    with _serving(certs, "v1", old) as port:
        said = _load(certs, port).stderr
        assert "protocol_version, 70" in said and "TLS 1.2 or 1.3" in said


def test_an_expired_certificate_is_named_with_its_day(certs: Path) -> None:
    _openssl(certs, "req", "-new", "-key", "p256.key", "-out", "old.csr", "-subj", "/CN=localhost")
    (certs / "index.txt").write_text("")
    (certs / "serial").write_text("01")
    (certs / "ca.cnf").write_text(
        "[ca]\ndefault_ca=own\n[own]\ndatabase=index.txt\nserial=serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=any\n"
        f"x509_extensions=ext\n[any]\ncommonName=supplied\n[ext]\n{_NAMES}\n"
    )
    dates = ["-startdate", "20200101000000Z", "-enddate", "20210203000000Z"]
    words = [
        "ca",
        "-batch",
        "-config",
        "ca.cnf",
        "-selfsign",
        "-keyfile",
        "p256.key",
        "-in",
        "old.csr",
        "-out",
        "old.pem",
    ]
    _openssl(certs, *words, *dates, "-notext")
    shutil.copy(certs / "p256.key", certs / "old.key")
    with _serving(certs, "old") as port:
        _borne(_load(certs, port))
        said = _load(certs, port, "--cacert", "old.pem").stderr
        assert "expired on 2021-02-03" in said, said
