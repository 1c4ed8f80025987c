"""Voice messages: the sender and the recipient get the audio as it was sent, and nobody else does."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import itertools
import os
import pathlib
import socket
import threading
import time
import uuid
from urllib.parse import parse_qs, urlsplit

import httpx
import numpy
import pytest
from switchboard_tests.audio_files import RATE, decode, encode, ogg_page, opusinfo, tone, with_gap
from switchboard_tests.disks import needs_mount, small_disk
from switchboard_tests.endpoint import Endpoint
from switchboard_tests.metrics import value
from switchboard_tests.voice_messages import fetch, listed, send, sent
from switchboard_tests.waiting import wait_until

SHORT = encode(tone(0.3))


def media(server) -> list[pathlib.Path]:
    return sorted((server.data / "media").iterdir())


def problem(response: httpx.Response, status: int, type: str, field: str | None = None) -> str:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert (body["type"], body.get("field")) == (type, field), body
    return body["detail"]


def test_a_user_may_have_so_many_bytes(make_server):
    server = make_server({"media": {"userBytes": 12_000}})
    alice, bob = server.users(2)
    used = 0
    while used + (message := sent(alice, bob, SHORT, "audio/ogg"))["byteCount"] * 2 <= 12_000:
        used += message["byteCount"]
    used += message["byteCount"]
    refused = send(alice, bob, SHORT, "audio/ogg")
    problem(refused, 403, "quota_exceeded")
    assert (refused.json()["used"], refused.json()["allowed"]) == (used, 12_000)
    assert alice.request("DELETE", f"/v1/voice-messages/{message['id']}").status_code == 204
    sent(alice, bob, SHORT, "audio/ogg")
    server.stop()


@pytest.mark.parametrize(
    ("type", "options"),
    [
        ("audio/ogg", {"format": "ogg"}),
        ("audio/webm", {"format": "webm"}),
        ("audio/webm", {"format": "webm", "live": "1"}),
        ("audio/webm;codecs=opus", {"format": "webm"}),
    ],
)
def test_a_message_is_received_as_sent(server, type, options):
    alice, bob = server.users(2)
    samples = tone(2.5)
    file = encode(samples, **options)
    message = sent(alice, bob, file, type)
    assert message["from"] == alice.id and message["to"] == bob.id
    assert abs(message["durationMs"] - 2500) <= 20
    assert message["contentType"] == "audio/ogg"
    waveform = message["waveform"]
    assert len(waveform) == 100 and waveform[5] < 10 and waveform[-10] > 35
    assert all(later >= earlier - 3 for earlier, later in itertools.pairwise(waveform[:-2]))
    # A rising sine of half amplitude: on average a third of its power.
    assert -13 <= message["level"] <= -9
    for user in (alice, bob):
        [found] = listed(user, bob if user is alice else alice)
        assert found["id"] == message["id"]
        response = fetch(user, found["audio"]["url"])
        assert response.status_code == 200
        assert response.headers["content-type"] == "audio/ogg"
        assert len(response.content) == message["byteCount"] == int(response.headers["content-length"])
    info = opusinfo(response.content)
    assert "Playback length: 0m:02." in info, info
    decoded, original = decode(response.content), decode(file)
    assert abs(len(decoded) - len(original)) <= RATE // 50
    # The packets are the same, and so is every sample.
    common = min(len(decoded), len(original))
    assert numpy.array_equal(decoded[:common], original[:common])


def test_gaps_keep_their_length(server):
    """Ogg has no gaps, so they are filled; the audio after one keeps its position."""
    alice, bob = server.users(2)
    message = sent(alice, bob, with_gap(1, 2, 1), "audio/webm")
    assert abs(message["durationMs"] - 4000) <= 20
    shape = message["waveform"]
    assert max(shape[:24]) > 30 and max(shape[28:74]) <= 3 and max(shape[76:]) > 30, shape
    response = fetch(bob, message["audio"]["url"])
    assert "Playback length: 0m:0" in opusinfo(response.content)
    decoded = decode(response.content)
    assert abs(len(decoded) - 4 * RATE) <= RATE // 50
    loud = [int(numpy.abs(part.astype(int)).max()) for part in numpy.array_split(decoded[: 4 * RATE], 16)]
    # An encoder is 6.5 ms behind: with those of the first tone the packets behind the gap begin, in the twelfth part.
    assert min(loud[1:4]) > 2_000 and max(loud[4:11]) < 500 and min(loud[13:]) > 2_000, loud


def test_open_pages_see_it_at_once(server):
    alice, bob = server.users(2)

    async def watch() -> None:
        endpoints = [Endpoint(server.realtime_url, user.id, user.token) for user in (alice, bob)]
        for endpoint in endpoints:
            await endpoint.open()
            await endpoint.listen(f"user:{endpoint.user}")

        async def next_change(endpoint: Endpoint, kind: str) -> dict:
            entries = endpoint.streams[f"user:{endpoint.user}"].entries
            return await endpoint.until(
                kind, lambda: next((data for found, data in entries.values() if found == kind), None)
            )

        message = await asyncio.to_thread(sent, alice, bob, SHORT)
        for endpoint in endpoints:
            data = await next_change(endpoint, "voice.created")
            assert data == {name: value for name, value in message.items() if name != "audio"}
        # The other rows of the table are realtime requests, too.
        found = (await endpoints[1].ask("voice.list", **{"with": alice.id}))["messages"]
        assert [each["id"] for each in found] == [message["id"]]
        assert (await endpoints[1].ask("voice.get", message=message["id"]))["message"]["audio"]["url"]
        await endpoints[0].ask("voice.remove", message=message["id"])
        for endpoint in endpoints:
            assert await next_change(endpoint, "voice.removed") == {"id": message["id"], "from": alice.id, "to": bob.id}
            await endpoint.close()
            assert not endpoint.violations

    asyncio.run(watch())


def test_a_repeat_sends_nothing_twice(server):
    alice, bob = server.users(2)
    client_id = str(uuid.uuid4())
    first, second = (send(alice, bob, SHORT, client_id=client_id) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 200)
    assert second.json()["duplicate"] is True
    assert second.json()["message"]["id"] == first.json()["message"]["id"]
    assert len(listed(alice, bob)) == 1
    problem(send(alice, bob, encode(tone(0.4)), client_id=client_id), 409, "client_id_reused", "clientID")
    # Simultaneous requests make one message too, with one file.
    client_id = str(uuid.uuid4())
    before = len(media(server))
    responses: list[httpx.Response] = []
    threads = [
        threading.Thread(target=lambda: responses.append(send(alice, bob, SHORT, client_id=client_id)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(response.status_code for response in responses) == [200, 201], [
        response.text for response in responses
    ]
    assert len({response.json()["message"]["id"] for response in responses}) == 1
    assert len(media(server)) == before + 1


def test_pages(server):
    alice, bob = server.users(2)
    ids = [sent(*((alice, bob) if number % 2 else (bob, alice)), SHORT)["id"] for number in range(5)]
    found, cursor = [], None
    while True:
        query = f"/v1/voice-messages?with={bob.id}&limit=2" + (f"&cursor={cursor}" if cursor else "")
        page = alice.get(query).json()
        assert len(page["messages"]) <= 2
        found += [message["id"] for message in page["messages"]]
        cursor = page.get("nextCursor")
        if not cursor:
            break
    assert found == ids[::-1]


# What is wrong with an upload


def chained() -> bytes:
    return SHORT + encode(tone(0.3))


def encrypted() -> bytes:
    """WebM whose track says that its content is encoded (ContentEncodings, an empty one)."""
    file = encode(tone(0.3), "webm", live="1")
    codec = file.index(b"\x86\x86A_OPUS")
    # In the track, in place of the codec's name and what follows up to its length.
    assert file[codec - 40 : codec].count(b"\xae") >= 1
    # A void element or another of at least four bytes is needed: FFmpeg writes the language (22 B5 9C, 3 bytes).
    language = file.index(b"\x22\xb5\x9c\x83")
    return file[:language] + b"\x6d\x80\x84\x00\x00\x00\x00"[:7] + file[language + 7 :]


def another_codec() -> bytes:
    return ogg_page(0, 2, 0, [b"\1vorbis" + bytes(23)]) + ogg_page(1, 4, 100, [b"\3vorbis", b"\5vorbis", bytes(50)])


def bomb() -> bytes:
    """Hours in few bytes: frames of 60 ms that have a byte each, on pages of 255."""
    opus_head = b"OpusHead\1\1" + (312).to_bytes(2, "little") + RATE.to_bytes(4, "little") + bytes(3)
    pages = [ogg_page(0, 2, 0, [opus_head]), ogg_page(1, 0, 0, [b"OpusTags" + bytes(8)])]
    pages += [ogg_page(number, 0, (number - 1) * 255 * 2880, [b"\x18"] * 255) for number in range(2, 300)]
    return b"".join(pages)


@pytest.mark.parametrize(
    ("make", "type", "words"),
    [
        (lambda: b"", "audio/ogg", "neither an Ogg nor a WebM"),
        (lambda: b"RIFF\0\0\0\0WAVE", "audio/ogg", "neither an Ogg nor a WebM"),
        (lambda: SHORT[:70], "audio/ogg", "ends"),
        (lambda: encode(tone(0.3), "webm")[:200], "audio/webm", ""),
        (another_codec, "audio/ogg", "no Opus"),
        (lambda: encode(tone(0.3), "matroska", codec="aac"), "audio/webm", "no Opus"),
        (lambda: encode(tone(0.001)), "audio/ogg", "no audio"),
        (chained, "audio/ogg", "second stream"),
        (encrypted, "audio/webm", "encrypted"),
        (bomb, "audio/ogg", "longer than the 300 seconds"),
        (lambda: os.urandom(50_000), "audio/webm", "neither an Ogg nor a WebM"),
    ],
    ids=["nothing", "wav", "cut ogg", "cut webm", "vorbis", "aac", "short", "chained", "encrypted", "bomb", "noise"],
)
def test_invalid_files_are_rejected(server, make, type, words):
    alice, bob = server.users(2)
    before = media(server)
    detail = problem(send(alice, bob, make(), type), 400, "invalid_request", "body")
    assert words in detail, detail
    assert media(server) == before and listed(bob, alice) == []


def test_a_body_of_another_type_is_rejected(server):
    alice, bob = server.users(2)
    problem(send(alice, bob, SHORT, "audio/mpeg"), 415, "unsupported_media_type", "Content-Type")
    problem(send(alice, bob, SHORT, "application/json"), 415, "unsupported_media_type", "Content-Type")
    # The file's content decides its type: browsers and people confuse them.
    assert send(alice, bob, SHORT, "audio/webm").status_code == 201


def test_an_envelope_is_complete(server):
    alice, bob = server.users(2)
    path, headers = (
        f"{server.url}/v1/voice-messages",
        {"Authorization": f"Bearer {alice.token}", "Content-Type": "audio/ogg"},
    )
    ask = lambda params: httpx.post(path, params=params, content=SHORT, headers=headers)
    problem(ask({"clientID": str(uuid.uuid4())}), 400, "invalid_request", "to")
    problem(ask({"to": "bob", "clientID": str(uuid.uuid4())}), 400, "invalid_request", "to")
    problem(ask({"to": bob.id}), 400, "invalid_request", "clientID")
    problem(send(alice, alice, SHORT), 400, "invalid_request", "to")
    problem(send(alice, str(uuid.uuid4()), SHORT), 404, "not_found", "to")
    problem(
        httpx.post(path, params={"to": bob.id, "clientID": str(uuid.uuid4())}, content=SHORT),
        401,
        "unauthenticated",
        "Authorization",
    )
    problem(alice.get("/v1/voice-messages"), 400, "invalid_request", "with")


def test_large_uploads_are_rejected_early(make_server):
    server = make_server({"voice": {"maxBytes": 20_000, "maxSeconds": 1}, "limits": {"voiceMessagesPerMinute": 8}})
    alice, bob = server.users(2)
    assert "20000" in problem(send(alice, bob, os.urandom(20_001)), 413, "payload_too_large", "body")
    chunked = (os.urandom(1000) for _ in range(21))
    assert "20000" in problem(send(alice, bob, chunked), 413, "payload_too_large", "body")
    assert "1 seconds" in problem(send(alice, bob, encode(tone(1.2))), 400, "invalid_request", "body")
    # A too large Content-Length is rejected before the body is sent.
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
        client.sendall(
            f"POST /v1/voice-messages?to={bob.id}&clientID={uuid.uuid4()} HTTP/1.1\r\nHost: x\r\nContent-Type: "
            "audio/ogg\r\n"
            f"Authorization: Bearer {alice.token}\r\nContent-Length: 1000000000\r\n\r\n".encode()
        )
        assert client.recv(100).startswith(b"HTTP/1.1 413")
    assert send(alice, bob, encode(tone(0.9))).status_code == 201
    codes = [send(alice, bob, SHORT).status_code for _ in range(4)]
    assert codes[-1] == 429, codes
    assert value(server, "voice_uploads_total", outcome="sent") >= 1
    assert value(server, "voice_uploads_total", outcome="payload_too_large") >= 3
    assert value(server, "voice_upload_bytes_total") > 1000
    assert value(server, "voice_decode_seconds_count") >= 1
    assert value(server, "voice_decodings_waiting") == 0


# The file


def test_ranges(server):
    alice, bob = server.users(2)
    message = sent(alice, bob, encode(tone(3)))
    url = bob.get(f"/v1/voice-messages/{message['id']}").json()["message"]["audio"]["url"]
    whole = fetch(bob, url)
    size, tag = len(whole.content), whole.headers["etag"]
    assert whole.headers["accept-ranges"] == "bytes"
    assert whole.headers["cache-control"].startswith("private")
    assert whole.headers["x-content-type-options"] == "nosniff"
    assert whole.headers["content-disposition"].startswith('inline; filename="voice-')
    for asked, (start, end) in {
        "bytes=0-": (0, size),
        "bytes=100-199": (100, 200),
        "bytes=-50": (size - 50, size),
        f"bytes={size - 1}-": (size - 1, size),
        f"bytes=5-{size * 2}": (5, size),
    }.items():
        for method in ("GET", "HEAD"):
            part = fetch(bob, url, method, Range=asked)
            assert part.status_code == 206, asked
            assert part.headers["content-range"] == f"bytes {start}-{end - 1}/{size}"
            assert int(part.headers["content-length"]) == end - start
            assert part.content == (whole.content[start:end] if method == "GET" else b"")
    beyond = fetch(bob, url, Range=f"bytes={size}-")
    assert beyond.status_code == 416 and beyond.headers["content-range"] == f"bytes */{size}"
    for asked in ("bytes=0-1,4-5", "bytes=9-3", "lines=1-2", "bytes=x-"):
        assert fetch(bob, url, Range=asked).content == whole.content
    assert fetch(bob, url, "HEAD").headers["content-length"] == str(size)
    assert fetch(bob, url, **{"If-None-Match": tag}).status_code == 304
    assert fetch(bob, url, **{"If-Range": tag, "Range": "bytes=0-9"}).status_code == 206
    assert fetch(bob, url, **{"If-Range": '"another"', "Range": "bytes=0-9"}).status_code == 200
    assert fetch(bob, url, "POST").status_code == 405


def signed(server, file: str, user: str, expires: int, session: str | None = None) -> str:
    """A URL that only the owner of the key can sign."""
    key = base64.urlsafe_b64decode((server.data / "media-key").read_text().strip() + "=")
    text = f"switchboard media\n{file}\n{user}\n{session or '-'}\n{expires}".encode()
    signature = base64.urlsafe_b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode().rstrip("=")
    by = f"&session={session}" if session else ""
    return f"/v1/media/{file}?user={user}{by}&expires={expires}&signature={signature}"


def test_an_address_is_for_one_user_and_a_while(server):
    alice, bob = server.users(2)
    message = sent(alice, bob, SHORT)
    other = sent(alice, bob, SHORT)
    url = message["audio"]["url"]
    parts = urlsplit(url)
    file = parts.path.rpartition("/")[2]
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    assert url == signed(server, file, alice.id, int(query["expires"]), query["session"])
    assert abs(int(query["expires"]) - time.time() - 3600) < 30
    assert os.stat(server.data / "media-key").st_mode & 0o777 == 0o600
    assert os.stat(server.data / "media").st_mode & 0o777 == 0o700

    def ask(file: str = file, **changes: str) -> httpx.Response:
        return httpx.get(f"{server.url}/v1/media/{file}", params=query | changes)

    assert ask().status_code == 200
    foreign = urlsplit(other["audio"]["url"])
    other_query = parse_qs(foreign.query)
    for refused in (
        ask(user=bob.id), ask(expires=str(int(query["expires"]) + 1)), ask(file=foreign.path.rpartition("/")[2]),
        ask(signature=other_query["signature"][0]), ask(signature=query["signature"][:-1]), ask(signature=""),
        ask(signature=query["signature"] + "A"),
        httpx.get(server.url + signed(server, file, alice.id, int(time.time()) - 1)),
    ):
        assert "expired" in problem(refused, 403, "forbidden", "signature")
    problem(ask(expires="soon"), 400, "invalid_request", "expires")
    problem(ask(expires=str(1 << 70)), 400, "invalid_request", "expires")
    problem(ask(user="../../etc"), 400, "invalid_request", "user")
    problem(httpx.get(f"{server.url}/v1/media/..%2f..%2fmedia-key", params=query), 400, "invalid_request", "file")
    problem(httpx.get(f"{server.url}/v1/media/{file}"), 400, "invalid_request", "user")
    # The signature limits the URL; it does not grant access.
    outsider = server.user()
    problem(httpx.get(server.url + signed(server, file, outsider.id, int(time.time()) + 60)), 404, "not_found", "file")
    problem(
        httpx.get(server.url + signed(server, str(uuid.uuid4()), alice.id, int(time.time()) + 60)),
        404,
        "not_found",
        "file",
    )


# Access


def test_access(server):
    alice, bob, eve = server.users(3)
    message = sent(alice, bob, SHORT)
    path = f"/v1/voice-messages/{message['id']}"
    urls = {user.id: user.get(path).json()["message"]["audio"]["url"] for user in (alice, bob)}
    assert urls[alice.id] != urls[bob.id]
    # Other users, and requests without a token.
    problem(eve.get(path), 404, "not_found", "message")
    problem(eve.request("DELETE", path), 404, "not_found", "message")
    assert listed(eve, alice) == listed(eve, bob) == []
    for method, target in [("GET", path), ("DELETE", path), ("GET", f"/v1/voice-messages?with={bob.id}")]:
        problem(httpx.request(method, server.url + target), 401, "unauthenticated", "Authorization")
    # The recipient can play it, and may not delete it.
    problem(bob.request("DELETE", path), 403, "forbidden")
    # Blocked: no further messages arrive, which the sender cannot see; earlier ones remain for both.
    assert bob.request("PUT", f"/v1/blocks/{alice.id}").status_code == 204
    withheld = sent(alice, bob, SHORT)
    assert fetch(alice, withheld["audio"]["url"]).status_code == 200
    problem(bob.get(f"/v1/voice-messages/{withheld['id']}"), 404, "not_found", "message")
    assert [found["id"] for found in listed(alice, bob)] == [withheld["id"], message["id"]]
    assert [found["id"] for found in listed(bob, alice)] == [message["id"]]
    problem(send(alice, str(uuid.uuid4()), SHORT), 404, "not_found", "to")
    for user in (alice, bob):
        assert fetch(user, urls[user.id]).status_code == 200
        assert user.get(path).status_code == 200
    assert send(bob, alice, SHORT).status_code == 201
    assert bob.request("DELETE", f"/v1/blocks/{alice.id}").status_code == 204
    assert send(alice, bob, SHORT).status_code == 201
    # Deleted: gone for both, the file too.
    before = len(media(server))
    assert alice.request("DELETE", path).status_code == 204
    assert len(media(server)) == before - 1
    for user in (alice, bob):
        problem(user.get(path), 404, "not_found", "message")
        problem(fetch(user, urls[user.id]), 404, "not_found", "file")
        assert all(found["id"] != message["id"] for found in listed(user, alice if user is bob else bob))
    problem(alice.request("DELETE", path), 404, "not_found", "message")


def test_disabled_users_have_no_access(server):
    bob = server.user()
    signed_up = httpx.post(
        server.url + "/v1/accounts",
        json={"email": f"{uuid.uuid4()}@example.org", "password": "a long password", "displayName": "Alice",
              "device": {"name": "test", "platform": "test"}},
    ).json()
    alice = type(bob)(server, signed_up["user"]["id"], signed_up["accessToken"])
    message = sent(alice, bob, SHORT)
    path = f"/v1/voice-messages/{message['id']}"
    theirs = bob.get(path).json()["message"]["audio"]["url"]
    assert fetch(alice, message["audio"]["url"]).status_code == 200
    server.command("account", "disable", "--email", signed_up["user"]["email"])
    problem(fetch(alice, message["audio"]["url"]), 404, "not_found", "file")
    assert alice.get(path).status_code in (401, 403)
    assert send(alice, bob, SHORT).status_code in (401, 403)
    problem(send(bob, alice, SHORT), 404, "not_found", "to")
    # It was sent before, and remains with its recipient.
    assert fetch(bob, theirs).status_code == 200
    assert [found["id"] for found in listed(bob, alice)] == [message["id"]]


# Crashes and disks


def test_a_crash_in_an_upload_leaves_nothing(make_server):
    server = make_server()
    alice, bob = server.users(2)
    kept = sent(alice, bob, SHORT)
    file = encode(tone(60))
    for moment in (0.02, 0.1, 0.3, 0.6):
        client_id = str(uuid.uuid4())
        done: list[int] = []

        def upload() -> None:
            with contextlib.suppress(httpx.TransportError):
                done.append(send(alice, bob, file, client_id=client_id).status_code)

        thread = threading.Thread(target=upload)
        thread.start()
        time.sleep(moment)
        server.kill()
        thread.join()
        # A crash may leave a partial file, and an unreferenced file.
        (server.data / "media" / f"{uuid.uuid4()}.part").write_bytes(file[:1000])
        (server.data / "media" / str(uuid.uuid4())).write_bytes(file)
        server.start()
        messages = listed(bob, alice)
        # Every acknowledged message exists and has its file, and there are no other files.
        if done == [201]:
            assert len(messages) > 1
        names = {urlsplit(message["audio"]["url"]).path.rpartition("/")[2] for message in messages}
        assert {path.name for path in media(server)} == names
        assert messages[-1]["id"] == kept["id"]
        assert all(fetch(bob, message["audio"]["url"]).status_code == 200 for message in messages)
        again = send(alice, bob, file, client_id=client_id)
        assert again.status_code in (200, 201), again.text
        assert alice.request("DELETE", f"/v1/voice-messages/{again.json()['message']['id']}").status_code == 204


@needs_mount
def test_a_full_disk_and_a_missing_directory_are_reported(make_server):
    server = make_server({"media": {"minFreeBytes": 0}})
    alice, bob = server.users(2)
    with small_disk(server, "64k") as directory:
        assert send(alice, bob, SHORT).status_code == 201
        large = encode(tone(30))
        assert len(large) > 70_000
        assert "no room" in problem(send(alice, bob, large), 503, "storage_full")
        assert len(media(server)) == 1
        assert "Make room" in server.log_tail()
        # A small one still fits.
        assert send(alice, bob, SHORT).status_code == 201
    directory.rmdir()
    problem(send(alice, bob, SHORT), 503, "unavailable")
    assert str(directory) in server.log_tail()
    directory.mkdir(0o700)
    message = sent(alice, bob, SHORT)
    # The file was deleted externally.
    for path in media(server):
        path.unlink()
    problem(fetch(alice, message["audio"]["url"]), 404, "not_found")


def test_many_at_once_are_accepted_or_rejected(server):
    people = server.users(8)
    bob = server.user()
    file = encode(tone(20))
    responses: list[httpx.Response] = []

    def upload(user) -> None:
        responses.append(send(user, bob, file))

    threads = [threading.Thread(target=upload, args=(people[number % 8],)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    codes = [response.status_code for response in responses]
    assert set(codes) <= {201, 503} and codes.count(201) >= 8, codes
    assert all("retry-after" in response.headers for response in responses if response.status_code == 503)
    wait_until(lambda: value(server, "voice_decodings_waiting") == 0, "nothing waits")
    assert sum(len(listed(bob, user)) for user in people) == codes.count(201)
