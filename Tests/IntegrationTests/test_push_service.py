"""The push service of the tests takes what a server should send, and nothing else."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import http_ece
import httpx
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from switchboard_tests.push_service import (
    CREATED,
    FAILED,
    FLOOD,
    GONE,
    HANG,
    NOT_FOUND,
    PushService,
    Subscription,
    decode,
    encode,
    serving,
    too_many,
)
from switchboard_tests.waiting import SILENCE, TIMEOUT

KEY = ec.generate_private_key(ec.SECP256R1())
PUBLIC_KEY = encode(KEY.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))


@pytest.fixture
def service():
    with serving() as service:
        yield service


def authorization(audience: str, key: ec.EllipticCurvePrivateKey = KEY, **claims: Any) -> str:
    claims = {"aud": audience, "exp": int(time.time()) + 43_200, "sub": "mailto:ops@example.org"} | claims
    signed = ".".join(encode(json.dumps(part).encode()) for part in ({"typ": "JWT", "alg": "ES256"}, claims))
    halves = decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    signature = b"".join(half.to_bytes(32, "big") for half in halves)
    return f"vapid t={signed}.{encode(signature)}, k={PUBLIC_KEY}"


def encrypted(subscription: Subscription, plaintext: bytes) -> bytes:
    sender = ec.generate_private_key(ec.SECP256R1())
    return bytes(
        http_ece.encrypt(
            plaintext, private_key=sender, dh=decode(subscription.keys["p256dh"]), auth_secret=subscription.auth,
            version="aes128gcm",
        )
    )  # fmt: skip


def push(
    service: PushService, subscription: Subscription, number: int = 1, seconds: float = TIMEOUT, **headers: str | None
) -> httpx.Response:
    """A header of None is left out."""
    all_headers = {
        "TTL": "60", "Urgency": "high", "Topic": "a", "Content-Encoding": "aes128gcm",
        "Authorization": authorization(service.url),
    } | {name.replace("_", "-"): value for name, value in headers.items()}  # fmt: skip
    body = encrypted(subscription, json.dumps({"kind": "test", "number": number}).encode())
    sent = {name: value for name, value in all_headers.items() if value is not None}
    return httpx.post(subscription.endpoint, content=body, headers=sent, timeout=seconds)


def test_a_push_is_checked_decrypted_and_kept(service):
    subscription = service.subscribe(PUBLIC_KEY)
    for number in (1, 2):
        response = push(service, subscription, number)
        assert response.status_code == 201
        assert response.headers["Location"]
    first, second = asyncio.run(service.wait_for(2, subscription))
    assert [first.payload, second.payload] == [{"kind": "test", "number": 1}, {"kind": "test", "number": 2}]
    assert (first.kind, first.seconds_to_live, first.urgency, first.topic) == ("test", 60, "high", "a")
    assert first.claims["sub"] == "mailto:ops@example.org"
    assert first.at <= second.at
    assert service.wait(1, subscription) == [first]
    assert subscription.registration(shared=True) == {
        "kind": "web", "endpoint": subscription.endpoint, "keys": subscription.keys, "shared": True,
    }  # fmt: skip


def test_a_browser_that_was_offline_gets_the_last_of_a_topic_that_lives(service):
    subscription = service.subscribe()
    for number, (topic, ttl) in enumerate([("a", "60"), ("b", "60"), ("a", "60"), ("c", "0"), (None, "60")]):
        assert push(service, subscription, number, Topic=topic, TTL=ttl).status_code == 201
    assert [one.payload["number"] for one in subscription.collect()] == [1, 2, 4]
    assert subscription.collect() == []
    assert len(subscription.payloads) == 5


@pytest.mark.parametrize(
    "headers, status",
    [
        ({"TTL": None}, 400),
        ({"TTL": "-1"}, 400),
        ({"Urgency": "urgent"}, 400),
        ({"Topic": "a" * 33}, 400),
        ({"Topic": "a/b"}, 400),
        ({"Content_Encoding": "aesgcm"}, 400),
        ({"Authorization": None}, 401),
        ({"Authorization": "WebPush a.b.c"}, 401),
    ],
)
def test_a_wrong_header_is_refused(service, headers, status):
    subscription = service.subscribe()
    assert push(service, subscription, **headers).status_code == status
    assert len(service.faults) == 1
    assert not subscription.pushes
    service.faults.clear()


@pytest.mark.parametrize(
    "claims",
    [
        {"audience": "https://push.example.net"},
        {"exp": int(time.time()) - 1},
        {"exp": int(time.time()) + 25 * 3600},
        {"sub": "ops@example.org"},
        {"key": ec.generate_private_key(ec.SECP256R1())},
    ],
)
def test_a_wrong_token_is_refused(service, claims):
    subscription = service.subscribe()
    token = authorization(**{"audience": service.url} | claims)
    assert push(service, subscription, Authorization=token).status_code == 403
    assert len(service.faults) == 1
    service.faults.clear()


def test_what_is_not_for_the_browser_is_refused(service):
    subscription = service.subscribe(encode(b"another server's key"))
    assert push(service, subscription).status_code == 403
    subscription, other = service.subscribe(), service.subscribe()
    headers = {"TTL": "60", "Content-Encoding": "aes128gcm", "Authorization": authorization(service.url)}
    body = encrypted(other, b"{}")
    for content, status in [(body, 400), (b"", 400), (body[:60], 400), (bytes(4_097), 413)]:
        response = httpx.post(subscription.endpoint, content=content, headers=headers, timeout=TIMEOUT)
        assert response.status_code == status
    assert httpx.post(service.url + "/wpush/v2/unknown", timeout=TIMEOUT).status_code == 404
    assert len(service.faults) == 6
    with pytest.raises(AssertionError, match="another server"):
        service.wait(1, subscription)
    service.faults.clear()


def test_it_responds_as_its_script_says(service):
    subscription = service.subscribe()
    subscription.script = [NOT_FOUND, GONE, too_many("7"), FAILED, service.redirect(), FLOOD, CREATED]
    responses = [push(service, subscription, number) for number in range(5)]
    assert [one.status_code for one in responses] == [404, 410, 429, 500, 307]
    assert responses[2].headers["Retry-After"] == "7"
    headers = {"TTL": "60", "Content-Encoding": "aes128gcm", "Authorization": authorization(service.url)}
    body = encrypted(subscription, b"{}")
    with httpx.stream("POST", subscription.endpoint, content=body, headers=headers, timeout=TIMEOUT) as flood:
        assert sum(len(chunk) for _, chunk in zip(range(8), flood.iter_raw(1 << 20))) == 8 << 20
    assert push(service, subscription).status_code == 201
    subscription.response = HANG
    with pytest.raises(httpx.ReadTimeout):
        push(service, subscription, seconds=SILENCE)
    service.wait(8, subscription)
    assert len(subscription.pushes) == 8
    assert len(subscription.delivered) == 2


def test_it_can_be_away(service):
    subscription = service.subscribe()
    subscription.script = [HANG]
    with pytest.raises(httpx.ReadTimeout):
        push(service, subscription, seconds=SILENCE)
    service.wait(1, subscription)
    service.stop()
    with pytest.raises(httpx.ConnectError):
        push(service, subscription)
    service.start()
    assert push(service, subscription).status_code == 201
    assert subscription.collect() == subscription.delivered
