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
from switchboard_tests.server import HTTP
from switchboard_tests.voice_messages import (
    conversation,
    fetch,
    listed,
    path_of,
    send,
    send_file,
    sent,
    shown,
    upload,
    uploaded,
)
from switchboard_tests.waiting import TIMEOUT, wait_until

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
    assert alice.request("DELETE", message["path"] + "?for=all").status_code == 200
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
    assert message["message"]["author"] == alice.id
    assert abs(message["durationMs"] - 2500) <= 20
    assert message["contentType"] == "audio/ogg"
    waveform = message["waveform"]
    assert len(waveform) == 100 and waveform[5] < 10 and waveform[-10] > 35
    assert all(later >= earlier - 3 for earlier, later in itertools.pairwise(waveform[:-2]))
    # A rising sine of half amplitude: on average a third of its power.
    assert -13 <= message["level"] <= -9
    for user in (alice, bob):
        [found] = listed(user, bob if user is alice else alice)
        assert found["path"] == message["path"]
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


def test_it_is_a_message_of_its_conversation(server):
    alice, bob = server.users(2)
    id = conversation(alice, bob)

    async def watch() -> None:
        endpoint = Endpoint(server.realtime_url, bob.id, bob.token)
        await endpoint.open()
        await endpoint.listen(f"conversation:{id}")
        file = await asyncio.to_thread(uploaded, alice, SHORT)
        result = await endpoint.ask("messages.list", conversation=id)
        assert result["messages"] == []
        sent = await asyncio.to_thread(send_file, alice, id, file["id"], readUpTo=0)
        message = sent.json()["message"]
        assert message["kind"] == "voice" and message["voice"]["file"] == file["id"] and "text" not in message
        for name in ("durationMs", "byteCount", "contentType", "waveform", "level"):
            assert message["voice"][name] == file[name]
        [seen] = (await endpoint.ask("messages.list", conversation=id))["messages"]
        assert seen == message
        # The other rows of the table are realtime requests, too.
        number = message["number"]
        link = (await endpoint.ask("messages.audio", conversation=id, number=number))["audio"]
        assert (await asyncio.to_thread(fetch, bob, link["url"])).status_code == 200
        own = (await endpoint.ask("messages.listen", conversation=id, number=number))["own"]
        assert own["listened"] and (await endpoint.ask("messages.list", conversation=id))["own"] == [own]
        assert (await endpoint.ask("messages.listen", conversation=id, number=number))["own"] == own
        await endpoint.close()
        assert not endpoint.violations

    asyncio.run(watch())
    # Unread, found by its kind, answered and quoted like a text.
    row = next(one for one in bob.get("/v1/inbox").json()["conversations"] if one["id"] == id)
    assert row["unread"] == 1 and row["lastMessage"]["voice"]["durationMs"] > 0
    [found] = bob.get(f"/v1/search?conversation={id}&kind=voice").json()["results"]
    assert found["message"]["number"] == 1
    answer = send_file(bob, id, uploaded(bob, SHORT)["id"], replyTo=1, thread=1)
    assert answer.status_code == 201 and answer.json()["message"]["replyTo"] == 1
    assert alice.get(f"/v1/conversations/{id}/messages/1").json()["message"]["replies"] == 1


def test_a_repeat_sends_nothing_twice(server):
    alice, bob = server.users(2)
    client_id = str(uuid.uuid4())
    first, second = (send(alice, bob, SHORT, client_id=client_id) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 200)
    assert second.json()["duplicate"] is True
    assert second.json()["message"]["number"] == first.json()["message"]["number"]
    assert len(listed(alice, bob)) == 1
    problem(upload(alice, encode(tone(0.4)), client_id=client_id), 409, "client_id_reused", "clientID")
    # Simultaneous uploads make one file.
    client_id = str(uuid.uuid4())
    before = len(media(server))
    responses: list[httpx.Response] = []
    threads = [
        threading.Thread(target=lambda: responses.append(upload(alice, SHORT, client_id=client_id))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(response.status_code for response in responses) == [200, 201], [
        response.text for response in responses
    ]
    assert len({response.json()["file"]["id"] for response in responses}) == 1
    assert len(media(server)) == before + 1


def test_what_cannot_be_sent(server):
    alice, bob, eve = server.users(3)
    id, file = conversation(alice, bob), uploaded(alice, SHORT)["id"]
    base = f"/v1/conversations/{id}/messages"
    problem(send_file(bob, id, file), 404, "not_found", "file")
    problem(send_file(alice, id, str(uuid.uuid4())), 404, "not_found", "file")
    problem(send_file(alice, id, file, text="x"), 400, "invalid_request", "text")
    problem(send_file(alice, id, file, kind="photo"), 400, "invalid_request", "kind")
    problem(send_file(alice, id, file, kind="text", text="x"), 400, "invalid_request", "file")
    later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
    problem(send_file(alice, id, file, sendAt=later), 400, "invalid_request", "sendAt")
    problem(alice.post(base, {"clientID": str(uuid.uuid4()), "kind": "voice"}), 400, "invalid_request", "file")
    # A request has only texts.
    request = alice.post(
        "/v1/conversations", {"clientID": str(uuid.uuid4()), "kind": "direct", "members": [eve.id]}
    ).json()["conversation"]["id"]
    problem(send_file(alice, request, file), 403, "forbidden", "kind")
    number = send_file(alice, id, file).json()["message"]["number"]
    problem(send_file(alice, id, file), 409, "conflict", "file")
    edit = {"text": "x", "textVersion": 1}
    problem(alice.request("PATCH", f"{base}/{number}", edit), 409, "conflict")
    forward = {"clientID": str(uuid.uuid4()), "forward": {"conversation": id, "number": number}}
    problem(alice.post(base, forward), 409, "conflict", "forward")
    # A text has no audio, and is not listened to.
    text = alice.post(base, {"clientID": str(uuid.uuid4()), "text": "x"}).json()["message"]["number"]
    problem(alice.get(f"{base}/{text}/audio"), 409, "conflict", "number")
    problem(alice.request("PUT", f"{base}/{text}/listened"), 409, "conflict", "number")
    # A file is discarded by its author, unless it was sent.
    unsent = uploaded(alice, SHORT)["id"]
    for user in (bob, alice, alice):
        assert user.request("DELETE", f"/v1/voice-files/{unsent}").status_code == 204
    problem(send_file(alice, id, unsent), 404, "not_found", "file")
    problem(alice.request("DELETE", f"/v1/voice-files/{file}"), 409, "conflict", "file")


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
    detail = problem(upload(alice, make(), type), 400, "invalid_request", "body")
    assert words in detail, detail
    assert media(server) == before and listed(bob, alice) == []


def test_a_body_of_another_type_is_rejected(server):
    alice, bob = server.users(2)
    problem(send(alice, bob, SHORT, "audio/mpeg"), 415, "unsupported_media_type", "Content-Type")
    problem(send(alice, bob, SHORT, "application/json"), 415, "unsupported_media_type", "Content-Type")
    # The file's content decides its type: browsers and people confuse them.
    assert send(alice, bob, SHORT, "audio/webm").status_code == 201


def test_an_upload_has_a_client_id(server):
    alice = server.user()
    path, headers = (
        f"{server.url}/v1/voice-files",
        {"Authorization": f"Bearer {alice.token}", "Content-Type": "audio/ogg"},
    )
    problem(HTTP.post(path, content=SHORT, headers=headers), 400, "invalid_request", "clientID")
    problem(
        HTTP.post(path, params={"clientID": str(uuid.uuid4())}, content=SHORT), 401, "unauthenticated",
        "Authorization",
    )


def test_large_uploads_are_rejected_early(make_server):
    server = make_server({"voice": {"maxBytes": 20_000, "maxSeconds": 1}, "limits": {"voiceMessagesPerMinute": 8}})
    alice = server.user()
    assert "20000" in problem(upload(alice, os.urandom(20_001)), 413, "payload_too_large", "body")
    chunked = (os.urandom(1000) for _ in range(21))
    assert "20000" in problem(upload(alice, chunked), 413, "payload_too_large", "body")
    assert "1 seconds" in problem(upload(alice, encode(tone(1.2))), 400, "invalid_request", "body")
    # A too large Content-Length is rejected before the body is sent.
    with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT) as client:
        client.sendall(
            f"POST /v1/voice-files?clientID={uuid.uuid4()} HTTP/1.1\r\nHost: x\r\nContent-Type: "
            "audio/ogg\r\n"
            f"Authorization: Bearer {alice.token}\r\nContent-Length: 1000000000\r\n\r\n".encode()
        )
        assert client.recv(100).startswith(b"HTTP/1.1 413")
    assert upload(alice, encode(tone(0.9))).status_code == 201
    codes = [upload(alice, SHORT).status_code for _ in range(4)]
    assert codes[-1] == 429, codes
    assert value(server, "voice_uploads_total", outcome="kept") >= 1
    assert value(server, "voice_uploads_total", outcome="payload_too_large") >= 3
    assert value(server, "voice_upload_bytes_total") > 1000
    assert value(server, "voice_decode_seconds_count") >= 1
    assert value(server, "voice_decodings_waiting") == 0


# The file


def test_ranges(server):
    alice, bob = server.users(2)
    message = sent(alice, bob, encode(tone(3)))
    url = bob.get(message["path"] + "/audio").json()["audio"]["url"]
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
        return HTTP.get(f"{server.url}/v1/media/{file}", params=query | changes)

    assert ask().status_code == 200
    foreign = urlsplit(other["audio"]["url"])
    other_query = parse_qs(foreign.query)
    for refused in (
        ask(user=bob.id), ask(expires=str(int(query["expires"]) + 1)), ask(file=foreign.path.rpartition("/")[2]),
        ask(signature=other_query["signature"][0]), ask(signature=query["signature"][:-1]), ask(signature=""),
        ask(signature=query["signature"] + "A"),
        HTTP.get(server.url + signed(server, file, alice.id, int(time.time()) - 1)),
    ):
        assert "expired" in problem(refused, 403, "forbidden", "signature")
    problem(ask(expires="soon"), 400, "invalid_request", "expires")
    problem(ask(expires=str(1 << 70)), 400, "invalid_request", "expires")
    problem(ask(user="../../etc"), 400, "invalid_request", "user")
    problem(HTTP.get(f"{server.url}/v1/media/..%2f..%2fmedia-key", params=query), 400, "invalid_request", "file")
    problem(HTTP.get(f"{server.url}/v1/media/{file}"), 400, "invalid_request", "user")
    # The signature limits the URL; it does not grant access.
    outsider = server.user()
    problem(HTTP.get(server.url + signed(server, file, outsider.id, int(time.time()) + 60)), 404, "not_found", "file")
    problem(
        HTTP.get(server.url + signed(server, str(uuid.uuid4()), alice.id, int(time.time()) + 60)),
        404,
        "not_found",
        "file",
    )


# Access


def test_access(server):
    alice, bob, eve = server.users(3)
    message = sent(alice, bob, SHORT)
    path = message["path"]
    url = lambda user: user.get(path + "/audio").json()["audio"]["url"]
    urls = {user.id: url(user) for user in (alice, bob)}
    assert urls[alice.id] != urls[bob.id]
    # Other users, and requests without a token.
    for method, target in [("GET", "/audio"), ("PUT", "/listened"), ("GET", "/transcript"), ("POST", "/transcript")]:
        problem(eve.request(method, path + target), 404, "not_found", "conversation")
        problem(HTTP.request(method, server.url + path + target), 401, "unauthenticated", "Authorization")
    # The recipient can play it, and may not delete it for both.
    problem(bob.request("DELETE", path + "?for=all"), 409, "conflict")
    # Blocked: no further messages arrive, which the sender cannot see; earlier ones remain for both.
    assert bob.request("PUT", f"/v1/blocks/{alice.id}").status_code == 204
    withheld = sent(alice, bob, SHORT)
    assert fetch(alice, withheld["audio"]["url"]).status_code == 200
    problem(bob.get(withheld["path"] + "/audio"), 404, "not_found", "number")
    assert [found["path"] for found in listed(alice, bob)] == [withheld["path"], path]
    assert [found["path"] for found in listed(bob, alice)] == [path]
    for user in (alice, bob):
        assert fetch(user, urls[user.id]).status_code == 200
    assert bob.request("DELETE", f"/v1/blocks/{alice.id}").status_code == 204
    # Who deletes it for themselves listens to it no more, whatever link they have.
    hidden = sent(alice, bob, SHORT)
    theirs = bob.get(hidden["path"] + "/audio").json()["audio"]["url"]
    assert bob.request("DELETE", hidden["path"] + "?for=me").status_code == 200
    problem(fetch(bob, theirs), 404, "not_found", "file")
    assert fetch(alice, hidden["audio"]["url"]).status_code == 200
    # Deleted: gone for both, the file too.
    before = len(media(server))
    assert alice.request("DELETE", path + "?for=all").status_code == 200
    wait_until(lambda: len(media(server)) == before - 1, "the file to go")
    for user in (alice, bob):
        problem(user.get(path + "/audio"), 409, "conflict", "number")
        problem(fetch(user, urls[user.id]), 404, "not_found", "file")
        assert all(found["path"] != path for found in listed(user, alice if user is bob else bob))


def test_a_message_that_disappears_takes_its_file(server):
    alice, bob = server.users(2)
    id = conversation(alice, bob)
    assert alice.request("PATCH", f"/v1/conversations/{id}", {"disappearAfter": 10}).status_code == 200
    before = len(media(server))
    message = sent(alice, bob, SHORT)
    theirs = bob.get(message["path"] + "/audio").json()["audio"]["url"]
    assert fetch(bob, theirs).status_code == 200 and len(media(server)) == before + 1
    wait_until(lambda: len(media(server)) == before, "the file to go")
    problem(fetch(bob, theirs), 404, "not_found", "file")


def test_who_left_a_group_listens_to_what_they_saw(server):
    alice, bob = server.users(2)
    group = alice.post(
        "/v1/conversations", {"clientID": str(uuid.uuid4()), "kind": "group", "members": [bob.id]}
    ).json()["conversation"]["id"]
    assert bob.post(f"/v1/conversations/{group}/members/me/accept", {}).status_code == 200
    ask = lambda: send_file(alice, group, uploaded(alice, SHORT)["id"]).json()["message"]
    seen = shown(bob, ask())
    assert bob.request("DELETE", f"/v1/conversations/{group}/members/me").status_code in (200, 204)
    unseen = ask()
    assert fetch(bob, seen["audio"]["url"]).status_code == 200
    problem(bob.get(path_of(unseen) + "/audio"), 404, "not_found", "number")


def test_disabled_users_have_no_access(server):
    bob = server.user()
    signed_up = HTTP.post(
        server.url + "/v1/accounts",
        json={"email": f"{uuid.uuid4()}@example.org", "password": "a long password", "displayName": "Alice",
              "device": {"name": "test", "platform": "test"}},
    ).json()
    alice = type(bob)(server, signed_up["user"]["id"], signed_up["accessToken"])
    message = sent(alice, bob, SHORT)
    theirs = bob.get(message["path"] + "/audio").json()["audio"]["url"]
    assert fetch(alice, message["audio"]["url"]).status_code == 200
    server.command("account", "disable", "--email", signed_up["user"]["email"])
    problem(fetch(alice, message["audio"]["url"]), 404, "not_found", "file")
    assert alice.get(message["path"] + "/audio").status_code in (401, 403)
    assert upload(alice, SHORT).status_code in (401, 403)
    # It was sent before, and remains with its recipient.
    assert fetch(bob, theirs).status_code == 200
    assert [found["path"] for found in listed(bob, alice)] == [message["path"]]


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
        # One that was uploaded and not sent is kept, for a day.
        unsent = {path.name for path in media(server)} - names
        assert len(unsent) <= 1 and names <= {path.name for path in media(server)}
        assert messages[-1]["path"] == kept["path"]
        assert all(fetch(bob, message["audio"]["url"]).status_code == 200 for message in messages)
        again = send(alice, bob, file, client_id=client_id)
        assert again.status_code in (200, 201), again.text
        assert alice.request("DELETE", path_of(again.json()["message"]) + "?for=all").status_code == 200
        names = {urlsplit(message["audio"]["url"]).path.rpartition("/")[2] for message in listed(bob, alice)}
        wait_until(lambda: {path.name for path in media(server)} == names, "no other file")


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
