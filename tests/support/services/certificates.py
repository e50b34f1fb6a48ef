"""Certificates for tests: what a server of given names and its client need for TLS with each other."""

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest


def certificates(folder: Path, *names: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context with a certificate for these names, and a client's that trusts it and nothing else."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with: install the system's package openssl")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    alternatives = ",".join(f"DNS:{name}" for name in names)
    options = f"-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout {key} -out {certificate}"
    names_of_it = ("-subj", "/CN=gear tests", "-addext", f"subjectAltName={alternatives}")
    subprocess.run(["openssl", "req", "-x509", *options.split(), *names_of_it], check=True, capture_output=True)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    return server, ssl.create_default_context(cafile=str(certificate))
