"""Deleted accounts: what ends at once, what is erased afterwards, and who may delete whom."""

from __future__ import annotations

import asyncio
import re
import time
import uuid

import numpy
import pytest
from switchboard_tests import histories, issuers, server_keys
from switchboard_tests.audio_files import encode, tone
from switchboard_tests.conversations import befriend, direct, group, inbox, send
from switchboard_tests.deletions import SECONDS, bytes_left, credentials, delete, erased, rows, sign_up, user
from switchboard_tests.endpoint import Endpoint, client_id, listening
from switchboard_tests.gateway import RATE, speaking_call
from switchboard_tests.push_service import ALLOWED, serving
from switchboard_tests.recordings import ended, is_recorded
from switchboard_tests.scripted_recogniser import PITCHES, utterance
from switchboard_tests.server import HTTP, ROOT, Server, User, refused, tool
from switchboard_tests.transcription import transcript
from switchboard_tests.voice_messages import fetch, listed, sent
from switchboard_tests.waiting import wait_until

# Each file has a transcript of its own.
COMMAND = {"transcription": {"provider": "command", "command": ["/bin/sh", "-c", "sha256sum | cut -c 1-60"]}}
PHOTO = ROOT / "Tests/ContainersTests/Fixtures/images/picture.png"


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server()


# What ends at once.


def test_the_password_is_needed(server):
    ann = user(server, sign_up(server, "Needed"))
    refused(ann.post("/v1/me/delete"), 400, "invalid_request", "password")
    refused(ann.post("/v1/me/delete", {"password": "wrong horse battery"}), 400, "invalid_request", "password")
    refused(ann.post("/v1/me/delete", {"password": 1}), 400, "invalid_request", "password")
    assert ann.get("/v1/me").status_code == 200


def test_guessing_the_password_is_slowed_down(server):
    ann = user(server, sign_up(server, "Guessed"))
    answers = [ann.post("/v1/me/delete", {"password": f"guess number {number}"}) for number in range(12)]
    assert answers[-1].status_code == 429 and answers[-1].json()["type"] == "rate_limited", answers[-1].text


def test_everything_of_the_user_ends_at_once(server):
    signed_in = sign_up(server, "Mirabel")
    ann, ben = user(server, signed_in), user(server, sign_up(server, "Benedict"))
    again = HTTP.post(f"{server.url}/v1/sessions", json=credentials("Mirabel"))
    assert again.status_code == 201, again.text
    other = user(server, again.json())

    async def run():
        endpoint = Endpoint(server.realtime_url, ann.id, ann.token)
        callee = Endpoint(server.realtime_url, ben.id, ben.token)
        await endpoint.open()
        await callee.open()
        call = (await endpoint.ask("calls.create", clientID=client_id(), kind="audio", callees=[ben.id]))["call"]["id"]
        await callee.until("the ring", lambda: f"call:{call}" in callee.streams)
        await asyncio.to_thread(delete, other)
        await endpoint.until("the bye", lambda: not endpoint.connected.is_set())
        await callee.until("the end", lambda: ben.get(f"/v1/calls/{call}").json()["call"]["status"] == "ended")
        await callee.close()
        return call

    call = asyncio.run(run())
    for one in (ann, other):
        refused(one.get("/v1/me"), 401, "unauthenticated")
        refused(one.get("/v1/calls"), 401, "unauthenticated")
    refresh = HTTP.post(f"{server.url}/v1/sessions/refresh", json={"refreshToken": signed_in["refreshToken"]})
    refused(refresh, 401, "unauthenticated")
    refused(HTTP.post(f"{server.url}/v1/sessions", json=credentials("Mirabel")), 401, "unauthenticated")

    shown = {"id": ann.id, "displayName": "Deleted user", "languages": [], "deleted": True}
    assert ben.get(f"/v1/users/{ann.id}").json() == shown
    caller = next(one for one in ben.get(f"/v1/calls/{call}").json()["call"]["participants"] if one["user"] == ann.id)
    assert (caller["displayName"], caller["deleted"]) == ("Deleted user", True)
    for query in ("Mirabel", "mirabel@mail.example", "Deleted"):
        assert ben.get("/v1/users", params={"query": query}).json()["users"] == []
    refused(ben.request("PUT", f"/v1/blocks/{ann.id}"), 404, "not_found", "user")

    # The address is free: whoever signs up with it is somebody else.
    fresh = sign_up(server, "Mirabel")
    assert fresh["user"]["id"] != ann.id
    refused(ann.get("/v1/me"), 401, "unauthenticated")
    server.restart()
    refused(ann.get("/v1/me"), 401, "unauthenticated")
    assert user(server, fresh).get("/v1/me").status_code == 200


def test_without_a_password_the_token_must_be_fresh(make_server):
    with issuers.issuing() as issuer:
        server = make_server(issuer.settings)
        now = int(time.time())
        stale, fresh = (issuer.token("ann", iat=issued, name="Ann Wintergreen") for issued in (now - 301, now - 10))
        ann = User(server, "", stale)
        ann.id = ann.get("/v1/me").json()["id"]
        refused(ann.post("/v1/me/delete"), 401, "unauthenticated")
        refused(User(server, "", issuer.token("ann", iat=None)).post("/v1/me/delete"), 401, "unauthenticated")
        delete(User(server, ann.id, fresh), password=None)

        # Tokens from before make no user anew, nor do those that do not say when they were issued.
        unseen = issuer.token("ann", iat=now - 20)
        for old in (stale, fresh, unseen, issuer.token("ann", iat=None)):
            refused(User(server, "", old).get("/v1/me"), 401, "unauthenticated")
        assert rows(server, "SELECT COUNT(*) FROM users WHERE deleted_at IS NULL") == [(0,)]
        new = User(server, "", issuer.token("ann", iat=time.time() + 1))
        assert new.get("/v1/me").json()["id"] != ann.id
        for old in (stale, fresh, unseen):
            refused(User(server, "", old).get("/v1/me"), 401, "unauthenticated")
        server.restart()
        refused(User(server, "", unseen).get("/v1/me"), 401, "unauthenticated")
        assert new.get("/v1/me").status_code == 200
        erased(server)
        assert not rows(server, "SELECT 1 FROM outside_identities WHERE user_id = ?", ann.id)


# What is erased.


def test_registrations_pushes_and_quiet_hours_go_at_once(make_server):
    zone = "America/Punta_Arenas"
    with serving() as browsers:
        server = make_server(ALLOWED)
        ann, ben = befriend(*(user(server, sign_up(server, name)) for name in ("Philippa", "Quillan")))
        for one, name in ((ann, zone), (ben, "UTC")):
            settings = {"notifications": "full", "quietHours": {"from": "03:00", "to": "03:01", "zone": name}}
            assert one.request("PATCH", "/v1/me", settings).status_code == 200
        key = HTTP.get(f"{server.url}/v1/server").json()["push"]["web"]["publicKey"]
        # Ann's push waits for ever: its service responds to nothing.
        browsers.stop()
        for one in (ann, ben):
            registration = browsers.subscribe(key).registration()
            assert one.request("PUT", "/v1/me/device/push", registration).status_code == 200
        assert send(ben, direct(ben, ann), "hello?").status_code == 201
        waiting = (
            "SELECT COUNT(*) FROM pushes p JOIN push_registrations r ON r.id = p.registration_id WHERE r.user_id = ?")
        wait_until(lambda: rows(server, waiting, ann.id) == [(1,)], "a push that waits")
        [(address, digest)] = rows(
            server, "SELECT address, digest FROM push_registrations WHERE user_id = ?", ann.id)
        delete(ann)
        # Nothing waits for the erasure.
        assert rows(server, "SELECT user_id FROM push_registrations") == [(ben.id,)]
        assert rows(server, "SELECT COUNT(*) FROM pushes") == [(0,)]
        columns = "SELECT notifications, quiet_from, quiet_to, quiet_zone FROM users WHERE id = ?"
        assert rows(server, columns, ann.id) == [(None, None, None, None)]
        assert rows(server, columns, ben.id) == [("full", 180, 181, "UTC")]
        erased(server)
        assert bytes_left(server, [zone]) == []
        for path in server.data.rglob("*"):
            content = path.read_bytes() if path.is_file() else b""
            assert address not in content and digest not in content, path
        server.stop()


def test_nothing_of_the_user_is_left_a_minute_later(make_server):
    server = make_server(COMMAND)
    signed_in = [sign_up(server, name, device=f"{name}phone") for name in ("Quendolin", "Benedict", "Cassandra")]
    ann, ben, cal = people = [user(server, one) for one in signed_in]
    assert ann.request("PATCH", "/v1/me", {"displayName": "Quendolin Featherstone"}).status_code == 200
    photo = HTTP.put(
        f"{server.url}/v1/me/photo", content=PHOTO.read_bytes(), headers=ann.headers | {"Content-Type": "image/png"}
    ).json()["photoURL"]
    assert ann.request("PUT", f"/v1/blocks/{cal.id}").status_code == 204
    assert cal.request("PUT", f"/v1/blocks/{ann.id}").status_code == 204
    assert cal.request("DELETE", f"/v1/blocks/{ann.id}").status_code == 204
    assert ann.request("DELETE", f"/v1/blocks/{cal.id}").status_code == 204

    own, received = (sent(*pair, encode(tone(seconds))) for *pair, seconds in ((ann, ben, 0.3), (ben, ann, 0.5)))
    texts = []
    for one, message in ((ann, own), (ben, received)):
        assert one.post(message["path"] + "/transcript").status_code in (200, 202)
        texts.append(transcript(one, message, "complete")["text"].strip())

    async def run():
        async with speaking_call(server, 3, people) as (everybody, tracks):
            await everybody[1].endpoint.ask("calls.record", call=everybody[1].call)
            await is_recorded(everybody[0], everybody[1])
            # Words between silences: a tone that only goes on is no speech.
            quiet = numpy.zeros(RATE // 2, numpy.int16)
            spoken = [numpy.concatenate([quiet, utterance(text), quiet]) for text in PITCHES]
            await asyncio.gather(*(track.say(audio) for track, audio in zip(tracks, spoken)))
            await everybody[0].endpoint.ask("calls.end", call=everybody[0].call)
            return await ended(server, everybody[1], everybody[1].call)

    manifest = asyncio.run(run())
    path = f"/v1/recordings/{manifest['id']}"
    assert ben.post(path + "/transcript").status_code in (200, 202)
    wait_until(lambda: ben.get(path + "/transcript").json()["transcript"]["status"] == "complete", "the words")
    assert ben.post(path + "/mix").status_code in (200, 202)
    wait_until(lambda: ben.get(path).json()["recording"]["mix"]["status"] == "complete", "the mix")
    said = {one["user"]: one["text"].strip() for one in ben.get(path + "/transcript").json()["transcript"]["segments"]}
    mix = ben.get(path).json()["recording"]["mix"]["audio"]["url"]
    tracks = {one["user"]: one["audio"]["url"] for one in ben.get(path).json()["recording"]["tracks"]}
    assert set(said) == {one.id for one in people} and texts[0] not in said.values()

    names = ["Quendolin", "quendolin", "Featherstone", "featherstone"]
    assert bytes_left(server, [*names, texts[0], said[ann.id]])
    files = {path.name for path in (server.data / "media").iterdir()}
    delete(ann)
    erased(server)

    assert bytes_left(server, [*names, texts[0], said[ann.id], photo]) == []
    assert bytes_left(server, [texts[1], said[ben.id], said[cal.id]])
    gone = files - {path.name for path in (server.data / "media").iterdir()}
    assert len(gone) == 4, "photo, voice message, track and mix"
    for url in (photo, mix, tracks[ann.id], own["audio"]["url"]):
        assert fetch(ben, url).status_code in (403, 404), url
    assert fetch(ben, tracks[cal.id]).status_code == 200

    # What is others' stays, and shows a deleted user.
    assert [one["path"] for one in listed(ben, ann)] == [received["path"]]
    [call] = ben.get("/v1/calls").json()["calls"]
    shown = {one["user"]: (one["displayName"], one.get("deleted"), one.get("photoURL")) for one in call["participants"]}
    assert shown[ann.id] == ("Deleted user", True, None) and shown[cal.id] == ("Cassandra Wintergreen", None, None)
    recording = ben.get(path).json()["recording"]
    assert {one["user"] for one in recording["tracks"]} == {ben.id, cal.id}
    assert recording["mix"]["status"] == "failed"
    left = ben.get(path + "/transcript").json()["transcript"]
    assert left["status"] == "complete" and {one["user"] for one in left["segments"]} == {ben.id, cal.id}
    assert ben.post(path + "/mix").status_code in (200, 202)
    wait_until(lambda: ben.get(path).json()["recording"]["mix"]["status"] == "complete", "the mix of the others")

    for table, column in (
        ("devices", "user_id"), ("endpoints", "user_id"), ("client_ids", "user_id"), ("name_words", "user_id"),
        ("voice_files", "author"), ("recording_tracks", "user_id"), ("recording_audience", "user_id"),
        ("signals", "user_id"), ("outside_identities", "user_id"), ("erasures", "user_id"),
    ):
        assert not rows(server, f"SELECT 1 FROM {table} WHERE {column} = ?", ann.id), table
    assert rows(server, "SELECT email, display_name FROM users WHERE id = ?", ann.id) == [(None, "Deleted user")]
    mentions = rows(server, "SELECT stream, type FROM changes WHERE data LIKE ?", f"%{ann.id}%")
    assert all(kind == "recording.mixed" for _, kind in mentions), mentions


def test_a_client_that_resumes_from_before_gets_a_reset(server):
    signed_in = [sign_up(server, name) for name in ("Ottoline", "Percival")]
    ann, ben = (user(server, one) for one in signed_in)

    async def before():
        endpoint = Endpoint(server.realtime_url, ben.id, ben.token)
        caller = Endpoint(server.realtime_url, ann.id, ann.token)
        await endpoint.open()
        await endpoint.listen(f"user:{ben.id}")
        await endpoint.close()
        await caller.open()
        call = (await caller.ask("calls.create", clientID=client_id(), kind="audio", callees=[ben.id]))["call"]["id"]
        await caller.ask("calls.cancel", call=call, clientID=client_id())
        await caller.close()
        return endpoint

    count = server.log_tail(100_000).count("a deleted account was erased")
    endpoint = asyncio.run(before())
    delete(ann)
    erased(server, count + 1)
    assert not rows(server, "SELECT 1 FROM changes WHERE data LIKE '%Ottoline%'")

    async def after():
        await endpoint.open()
        await endpoint.until("the snapshot", lambda: endpoint.streams[f"user:{ben.id}"].snapshots == 2)
        await endpoint.close()

    asyncio.run(after())
    assert endpoint.resets == [f"user:{ben.id}: gap"] and not endpoint.violations


def test_who_has_a_conversation_open_goes_on_and_sees_who_it_is_now(server):
    """Nothing is reset: neither the streams of the one who is left, nor those of somebody else."""
    ann, ben = (user(server, sign_up(server, name)) for name in ("Quintilla", "Rosalind"))
    [other] = server.users(1)
    befriend(ann, ben)
    here, elsewhere = direct(ben, ann), group(other)
    assert send(ben, here, "the only message").status_code == 201
    conversation, theirs, apart = f"conversation:{here}", f"inbox:{ben.id}", f"conversation:{elsewhere}"
    count = server.log_tail(100_000).count("a deleted account was erased")

    async def run() -> None:
        async with listening(ben, conversation, theirs) as left, listening(other, apart) as endpoint:
            assert inbox(left.streams[theirs])[here]["person"]["displayName"] == "Quintilla Wintergreen"
            await asyncio.to_thread(delete, ann)
            tombstone = {"id": ann.id, "displayName": "Deleted user", "languages": [], "deleted": True}
            await left.until(
                "who it is", lambda: tombstone in [row.get("person") for row in left.streams[conversation].rows]
            )
            await left.until("who it is", lambda: inbox(left.streams[theirs])[here]["person"] == tombstone)
            await asyncio.to_thread(erased, server, count + 1)
            await asyncio.to_thread(send, other, elsewhere, "a note to oneself")
            await endpoint.until("the note", lambda: endpoint.streams[apart].rows)
            for one in (left, endpoint):
                assert one.resets == [] and {stream.snapshots for stream in one.streams.values()} == {1}

    asyncio.run(run())


# A minute of work on a fast machine.
@pytest.mark.timeout(300)
def test_an_erasure_goes_on_after_kill_9(make_server):
    """Thousands of calls, so that the server is killed in the middle of it, once in each of several steps."""
    server = make_server()
    ann = user(server, sign_up(server, "Zenobia"))
    ben = user(server, sign_up(server, "Benedict"))
    server.stop()
    count = 2000
    people = [(ann.id, "Zenobia Wintergreen"), (ben.id, "Benedict Wintergreen")]
    histories.add_calls(server.data / "switchboard.sqlite", people, count)
    server.start()
    delete(ann)

    def step() -> str:
        found = rows(server, "SELECT step FROM erasures")
        return found[0][0] if found else ""

    killed = []
    for name in ("rows", "participants", "log"):
        wait_until(lambda name=name: step() == name, f"the step {name}", SECONDS)
        server.kill()
        killed.append(step())
        server.start()
        refused(ann.get("/v1/me"), 401, "unauthenticated")
    assert killed == ["rows", "participants", "log"]
    erased(server)
    assert bytes_left(server, ["Zenobia", "zenobia"]) == []
    assert rows(server, "SELECT COUNT(*) FROM participants WHERE display_name = 'Deleted user'") == [(count,)]
    assert rows(server, "SELECT COUNT(*) FROM client_ids WHERE user_id = ?", ben.id) == [(count,)]
    assert rows(server, "SELECT COUNT(*) FROM changes WHERE data LIKE ?", f"%{ann.id}%") == [(0,)]
    assert rows(server, "SELECT COUNT(*) FROM streams WHERE name LIKE 'call:%'") == [(0,)]
    assert len(ben.get("/v1/calls").json()["calls"]) > 0


# By key, and by command.


def test_a_key_deletes_users(make_server):
    server = make_server()
    key = server_keys.create(server, "users", "tokens")
    ann = key.user("42")
    other = server_keys.create(server, "tokens").request("DELETE", "/v1/server/users/ext:42")
    refused(other, 403, "forbidden", "Authorization")
    assert key.request("DELETE", "/v1/server/users/ext:42").status_code == 204
    refused(ann.get("/v1/me"), 401, "unauthenticated")
    refused(key.request("DELETE", "/v1/server/users/ext:42"), 404, "not_found", "user")
    assert key.request("DELETE", f"/v1/server/users/{ann.id}").status_code == 204, "it is done already"
    found = key.get(f"/v1/server/users/{ann.id}").json()["user"]
    assert (found["displayName"], found["deleted"], found["disabled"]) == ("Deleted user", True, True)
    refused(key.post(f"/v1/server/users/{ann.id}/enable"), 409, "conflict")
    device = {"device": {"id": str(uuid.uuid4()), "name": "Phone", "platform": "test"}}
    refused(key.post(f"/v1/server/users/{ann.id}/tokens", device), 401, "unauthenticated")
    assert key.put_user("42")["id"] != ann.id
    deletions = [one for one in server_keys.audit(server) if one["action"] == "server.users.delete"]
    [entry] = [one for one in deletions if one["outcome"] == "done"]
    assert (entry["subject"], entry["actor"]) == (ann.id, f"key:{key.id}")


def test_the_operator_deletes_accounts(make_server):
    server = make_server()
    key = server_keys.create(server)
    first, second = (sign_up(server, name)["user"]["id"] for name in ("Ann", "Ben"))
    third = key.put_user("7")["id"]
    unsure = tool(server, "account", "delete", "ann@mail.example")
    assert unsure.returncode != 0 and "--yes" in unsure.stderr, unsure
    for name in ("ann@mail.example", second, "ext:7"):
        assert "is deleted" in server.command("account", "delete", name, "--yes"), name
    unknown = tool(server, "account", "delete", "ann@mail.example", "--yes")
    assert unknown.returncode == 1 and "no such account" in unknown.stderr, unknown
    assert "was deleted before" in server.command("account", "delete", first, "--yes")
    wrong = tool(server, "account", "delete", "ann", "--yes")
    assert wrong.returncode == 1 and "e-mail address" in wrong.stderr, wrong
    states = {line.split("\t")[0]: line.split("\t")[3] for line in server.command("account", "list").splitlines()}
    assert [states[one] for one in (first, second, third)] == ["deleted"] * 3
    entries = [one for one in server_keys.audit(server) if one["action"] == "account.delete"]
    assert [one["subject"] for one in entries] == [first, second, third]
    assert "mail.example" not in str(entries)
    erased(server, 3)


def test_deletions_are_repeated_after_a_restore(make_server, tmp_path):
    server = make_server()
    ann, ben, cal = (sign_up(server, name) for name in ("Annabel", "Benedict", "Cassandra"))
    key = server_keys.create(server)
    ext = key.put_user("7", "Desdemona")
    server.command("backup", str(tmp_path / "backup"))
    delete(user(server, ann))
    server.command("account", "delete", ben["user"]["id"], "--yes")
    assert key.request("DELETE", "/v1/server/users/ext:7").status_code == 204
    later = sign_up(server, "Later")
    delete(user(server, later))
    audit = tmp_path / "audit"
    audit.write_text(server.command("audit"))
    lines = tmp_path / "audit.json"
    lines.write_text(server.command("audit", "--json"))
    log = tmp_path / "server.log"
    log.write_text(server.log.read_text())
    erased(server, 4)
    server.stop()

    server.data = server.directory / "restored"
    server.settings["storage"]["path"] = str(server.data)
    server.config.write_text(re.sub(r"path: .*", f"path: {server.data}", server.config.read_text()))
    assert "account delete --from" in server.command("restore", str(tmp_path / "backup"))
    before = "3 accounts are deleted, 0 were deleted before, 1 are not in this database."
    # Without a server, which erases the rest when it starts.
    assert before in server.command("account", "delete", "--from", str(log), "--yes")
    again = "0 accounts are deleted, 3 were deleted before, 1 are not in this database."
    for file in (audit, lines):
        assert again in server.command("account", "delete", "--from", str(file), "--yes"), file
    server.log.write_text("")
    server.start()
    erased(server, 3)
    assert bytes_left(server, ["Annabel", "annabel", "Benedict", "Desdemona"]) == []
    states = {line.split("\t")[0]: line.split("\t")[3] for line in server.command("account", "list").splitlines()}
    assert states == {
        ann["user"]["id"]: "deleted", ben["user"]["id"]: "deleted", ext["id"]: "deleted", cal["user"]["id"]: "active"
    }
    missing = tool(server, "account", "delete", "--from", str(tmp_path / "nothing"), "--yes")
    assert missing.returncode == 1 and "cannot be read" in missing.stderr, missing


def test_events_do_not_name_a_deleted_user(make_server):
    server = make_server()
    server.command("webhook", "add")
    key = server_keys.create(server)
    ann, ben = key.user("customer-4711"), key.put_user("friend", "Ben")
    body = {"clientID": client_id(), "callees": [ben["id"]], "kind": "audio"}
    assert ann.post("/v1/calls", body).status_code == 201
    texts = ["User customer-4711", '"externalID":"customer-4711","displayName"']
    assert len(bytes_left(server, texts)) >= 2
    assert key.request("DELETE", f"/v1/server/users/{ann.id}").status_code == 204
    erased(server)
    assert bytes_left(server, texts) == []
    events = key.get("/v1/server/events?since=1970-01-01T00:00:00Z").json()["events"]
    named = [(one["type"], one["data"].get("externalID")) for one in events if one["data"].get("user") == ann.id]
    # The app has to know whom to delete too.
    assert [one for one in named if one[0].startswith("user.")] == [
        ("user.created", None), ("user.deleted", "customer-4711"),
    ]
    assert {external for type, external in named if not type.startswith("user.")} == {None}
    [ring] = [one["data"] for one in events if one["type"] == "call.ringing"]
    assert ring["caller"] == {"user": ann.id} and ring["externalID"] == "friend"
