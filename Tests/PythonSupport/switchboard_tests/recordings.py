"""Recordings of calls, and the people in them."""

from __future__ import annotations

import asyncio
import io
import uuid
from typing import Any

import av
import numpy

from switchboard_tests.gateway import Participant
from switchboard_tests.server import HTTP, Server, User


def person(server: Server, one: Participant) -> User:
    """The same user over REST."""
    return User(server, one.endpoint.user, one.endpoint.token)


def signed_up(server: Server, name: str) -> User:
    body = {
        "email": f"{name}@example.org", "password": "correct horse battery", "displayName": name,
        "device": {"id": str(uuid.uuid4()), "name": "test", "platform": "test"},
    }
    response = HTTP.post(f"{server.url}/v1/accounts", json=body)
    assert response.status_code == 201, response.text
    return User(server, response.json()["user"]["id"], response.json()["accessToken"])


async def meet(everybody: list[Participant]) -> None:
    for one in everybody:
        await one.join(slots=len(everybody) - 1, video=False)
    for one in everybody:
        for other in everybody:
            if one is not other:
                await one.receives_audio(other)


async def is_recorded(one: Participant, by: Participant | None) -> None:
    """Waits until the call's stream says so."""

    def condition() -> bool:
        entries = one.endpoint.streams[f"call:{one.call}"].entries
        documents = [data for _, (kind, data) in sorted(entries.items()) if kind == "call"]
        recording = documents[-1].get("recording") if documents else None
        return (recording or {}).get("by") == (by.endpoint.user if by else None) and bool(documents)

    await one.endpoint.until(f"the call to be recorded by {by and by.endpoint.user}", condition)


def manifests(server: Server, one: Participant, call: str) -> list[dict[str, Any]]:
    response = person(server, one).get(f"/v1/calls/{call}/recordings")
    assert response.status_code == 200, response.text
    return response.json()["recordings"]


async def ended(server: Server, one: Participant, call: str) -> dict[str, Any]:
    """The only recording of a call, once its files are complete."""
    for _ in range(400):
        [manifest] = await asyncio.to_thread(manifests, server, one, call)
        if manifest["status"] != "ongoing" and all("durationMs" in track for track in manifest["tracks"]):
            return manifest
        await asyncio.sleep(0.05)
    raise AssertionError(f"it never ended: {manifest}")


def fetch(server: Server, track: dict[str, Any]) -> bytes:
    response = HTTP.get(server.url + track["audio"]["url"])
    assert response.status_code == 200 and response.headers["content-type"] == "audio/ogg", response.text
    assert len(response.content) == track["byteCount"]
    return response.content


def samples(file: bytes) -> numpy.ndarray:
    """48 kHz, the first channel."""
    with av.open(io.BytesIO(file), "r") as container:
        frames = [frame.to_ndarray()[0] for frame in container.decode(audio=0)]
    return numpy.concatenate(frames) if frames else numpy.zeros(0)


def pitch(decoded: numpy.ndarray) -> float:
    spectrum = numpy.abs(numpy.fft.rfft(decoded * numpy.hanning(len(decoded))))
    return float(numpy.argmax(spectrum) * 48_000 / len(decoded))
