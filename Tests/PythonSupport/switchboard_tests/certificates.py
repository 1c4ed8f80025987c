"""Test certificates: issued by an authority, for verified TLS, and self-signed ones."""

from __future__ import annotations

import datetime
import ipaddress
import pathlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Authority:
    """Signs certificates; clients trust them through `file` (OpenSSL reads it from SSL_CERT_FILE)."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory = directory
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of the tests")])
        self.certificate = self.sign(self.name, self.key, x509.BasicConstraints(ca=True, path_length=0))
        self.file = directory / "authority.pem"
        self.file.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))

    def sign(
        self, name: x509.Name, key: ec.EllipticCurvePrivateKey, *extensions: x509.ExtensionType
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder().subject_name(name).issuer_name(self.name).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=30))
        )
        for extension in extensions:
            builder = builder.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
        return builder.sign(self.key, hashes.SHA256())

    def issue(self, *addresses: str) -> dict[str, str]:
        """Issues a certificate for IP addresses; returns the settings `certificate` and `privateKey`."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, addresses[0])])
        names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address)) for address in addresses])
        certificate = self.sign(subject, key, names, x509.BasicConstraints(ca=False, path_length=None))
        files = {
            "certificate": self.directory / f"{addresses[0]}.pem",
            "privateKey": self.directory / f"{addresses[0]}.key",
        }
        files["certificate"].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        files["privateKey"].write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return {name: str(file) for name, file in files.items()}


def self_signed(
    directory: pathlib.Path, name: str = "localhost", stem: str = "server", days: tuple[float, float] = (-1, 30)
) -> tuple[pathlib.Path, pathlib.Path]:
    """A self-signed certificate for `name` and loopback, valid between two offsets in days from now, and its key."""
    now = datetime.datetime.now(datetime.UTC)
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    names = [x509.DNSName(name), *(x509.IPAddress(ipaddress.ip_address(one)) for one in ("127.0.0.1", "::1"))]
    certificate = (
        x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).add_extension(x509.SubjectAlternativeName(names), False)
        .not_valid_before(now + datetime.timedelta(days[0])).not_valid_after(now + datetime.timedelta(days[1]))
        .sign(key, hashes.SHA256())
    )
    paths = directory / f"{stem}.pem", directory / f"{stem}-key.pem"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return paths
