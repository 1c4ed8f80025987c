"""Access tokens of this server with other times, signed with the server's own key."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from switchboard_tests.issuers import encoded
from switchboard_tests.server import User


def decoded(part: str) -> dict[str, Any]:
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return claims


def expiring(user: User, seconds: int) -> User:
    """The same user and sign-in, with a token that expires in so many seconds, or that expired if they are negative."""
    pem = (user.server.data / "signing-key.pem").read_bytes()
    key = serialization.load_pem_private_key(pem, password=None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    header, claims, _ = user.token.split(".")
    now = int(time.time())
    times = {"iat": min(now, now + seconds) - 60, "exp": now + seconds}
    signed = f"{header}.{encoded(json.dumps(decoded(claims) | times).encode())}"
    r, s = decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    return User(user.server, user.id, signed + "." + encoded(r.to_bytes(32, "big") + s.to_bytes(32, "big")))
