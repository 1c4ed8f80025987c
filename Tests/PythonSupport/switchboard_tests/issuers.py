"""An issuer of OpenID Connect outside of Switchboard, with its key set on a port of the loopback."""

from __future__ import annotations

import base64
import contextlib
import json
import time
from collections.abc import Iterator
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from switchboard_tests import scripted_http

AUDIENCE = "switchboard"


def encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


class Issuer:
    def __init__(self, name: str) -> None:
        self.name = name
        self.key = ec.generate_private_key(ec.SECP256R1())

    @property
    def key_set(self) -> dict[str, Any]:
        numbers = self.key.public_key().public_numbers()
        x, y = (encoded(number.to_bytes(32, "big")) for number in (numbers.x, numbers.y))
        return {"keys": [{"kty": "EC", "crv": "P-256", "kid": "one", "alg": "ES256", "use": "sig", "x": x, "y": y}]}

    @property
    def settings(self) -> dict[str, Any]:
        """For the server's configuration."""
        issuer = {"issuer": self.name, "audience": AUDIENCE, "jwksURL": self.name + "/jwks.json"}
        return {"accounts": {"signUp": "open", "issuers": [issuer]}}

    def token(self, subject: str, **claims: Any) -> str:
        """A token for an hour; a claim that is None is left out."""
        now = time.time()
        everything = {"iss": self.name, "aud": AUDIENCE, "sub": subject, "iat": now, "exp": now + 3600} | claims
        body = {name: value for name, value in everything.items() if value is not None}
        parts = [{"alg": "ES256", "typ": "JWT", "kid": "one"}, body]
        signed = ".".join(encoded(json.dumps(part).encode()) for part in parts)
        r, s = decode_dss_signature(self.key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return signed + "." + encoded(r.to_bytes(32, "big") + s.to_bytes(32, "big"))


@contextlib.contextmanager
def issuing() -> Iterator[Issuer]:
    class Handler(scripted_http.Handler):
        def do_GET(self) -> None:
            self.respond(200, json.dumps(issuer.key_set).encode(), Content_Type="application/json")

    with scripted_http.serving(Handler) as address:
        issuer = Issuer(address)
        yield issuer
