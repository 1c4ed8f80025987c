"""state/push-notices.js: what a push becomes on the screen. state/subscription.js: whether a browser is registered."""

import json

import pytest

READER = {"user": "me", "lang": "es", "dir": "ltr",
          "texts": {"accept": "Aceptar", "decline": "Rechazar", "message": "Mensaje nuevo", "other": "Hay algo nuevo"}}  # fmt: skip
MESSAGE = {"kind": "message", "user": "me", "conversation": "c", "number": 12, "title": "Ana", "body": "See you at 8",
           "badge": 3}  # fmt: skip
RING = {"kind": "ring", "user": "me", "call": "k", "video": True, "title": "Ana", "body": "Video call",
        "expiresAt": 2_000}  # fmt: skip
ENDED = {"kind": "ringEnded", "user": "me", "call": "k", "title": "Ana", "body": "Answered on another device",
         "reason": "answered"}  # fmt: skip
MISSED = {"kind": "missedCall", "user": "me", "call": "k", "title": "Ana", "body": "Missed call", "badge": 4}


@pytest.fixture(scope="module")
def notice(call):
    def of(push, reader=READER, **options):
        return call("state/push-notices.js", "noticeOf", push, reader, {"now": 1_000, "mostActions": 2, **options})

    return of


def test_a_message(notice):
    found = notice(MESSAGE)
    assert (found["title"], found["page"], found["badge"]) == ("Ana", "#/c/c", 3)
    assert found["options"] == {
        "tag": "message-c-12", "body": "See you at 8", "icon": "/icons/192.png", "lang": "es", "dir": "ltr",
        "data": {"address": "#/c/c/12", "conversation": "c", "number": 12},
    }  # fmt: skip


def test_its_tag_is_that_of_the_page(notice, call):
    assert notice(MESSAGE)["options"]["tag"] == call("state/news.js", "tagOf", "c", {"number": 12})
    assert notice(MISSED)["options"]["tag"] == call("state/news.js", "tagOf", "c", {"call": {"id": "k"}})


def test_a_browser_that_hides_texts(notice):
    quiet = {**READER, "hidesText": True}
    assert notice(MESSAGE, quiet)["options"]["body"] == "Mensaje nuevo"
    assert notice(MISSED, quiet)["options"]["body"] == "Missed call"


@pytest.mark.parametrize(
    ("photo", "icon"),
    [
        ("/v1/photos/1", "/v1/photos/1"),
        ("https://example.org/v1/photos/1", "/icons/192.png"),
        ("//example.org/1", "/icons/192.png"),
        (7, "/icons/192.png"),
    ],
)
def test_photos_are_those_of_this_server(notice, photo, icon):
    assert notice({**MESSAGE, "photo": photo})["options"]["icon"] == icon


def test_a_ring(notice):
    found = notice(RING)
    options = found["options"]
    assert (found["title"], found["page"], options["tag"], options["body"]) == ("Ana", "", "ring-k", "Video call")
    assert options["requireInteraction"] and options["renotify"] and options["vibrate"]
    assert options["actions"] == [{"action": "answer", "title": "Aceptar"}, {"action": "decline", "title": "Rechazar"}]
    assert options["data"] == {"address": "", "call": "k", "expiresAt": 2_000}


def test_actions_need_a_browser_and_words_for_them(notice):
    assert notice(RING, mostActions=0)["options"]["actions"] == []
    assert [one["action"] for one in notice(RING, mostActions=1)["options"]["actions"]] == ["answer"]
    assert notice(RING, {"user": "me"})["options"]["actions"] == []


def test_a_ring_that_comes_too_late_is_silent(notice):
    options = notice(RING, now=2_000)["options"]
    assert options["silent"] and options["tag"] == "ring-k" and options["body"] == "Video call"
    assert not {"requireInteraction", "renotify", "vibrate", "actions"} & options.keys()


def test_the_end_of_a_ring_and_a_missed_call(notice):
    ended, missed = notice(ENDED), notice(MISSED)
    assert (ended["options"]["tag"], ended["options"]["silent"], ended.get("closes")) == ("ring-k", True, None)
    assert ended["options"]["body"] == "Answered on another device"
    assert (missed["options"]["tag"], missed["closes"], missed["badge"]) == ("call-k", "ring-k", 4)
    assert "silent" not in missed["options"]
    assert ended["options"]["data"] == missed["options"]["data"] == {"address": "#/history"}


@pytest.mark.parametrize("push", [MESSAGE, RING, ENDED, MISSED], ids=lambda one: one["kind"])
@pytest.mark.parametrize("reader", [{**READER, "user": "ben"}, {}], ids=["another", "nobody"])
def test_another_account_has_a_neutral_notification(notice, push, reader):
    found = notice({**push, "photo": "/v1/photos/1"}, reader)
    assert found["title"] == "Switchboard" and "page" not in found and "badge" not in found
    assert found["options"]["body"] == reader.get("texts", {}).get("other", "")
    text = json.dumps(found)
    assert not any(one in text for one in ("Ana", push["body"], "photos", '"k"', "#/c"))


@pytest.mark.parametrize("kind", ["reminder", "constructor", "__proto__", None, 7])
def test_an_unknown_kind_is_a_plain_notification(notice, kind):
    found = notice({"kind": kind, "user": "me", "title": "Ana", "body": "Soon"})
    assert (found["title"], found["options"]["body"], found["options"]["data"]) == ("Ana", "Soon", {"address": ""})
    assert found["page"] is None and "tag" not in found["options"]


@pytest.mark.parametrize("text", ["", "{", "null", "[]", "7", '"text"'])
def test_what_is_no_document_is_shown_too(call, notice, text):
    push = call("state/push-notices.js", "parsedPush", text)
    assert push == {}
    found = notice(push)
    assert (found["title"], found["options"]["body"]) == ("Switchboard", "")


def test_when_it_is_registered_again(call):
    wanted = {"user": "me", "session": "s", "endpoint": "https://push.example/1", "key": "K"}
    known = {**wanted, "at": 1_000}

    def is_registered(known, wanted, now=2_000):
        return call("state/subscription.js", "isRegistered", known, wanted, now)

    assert is_registered(known, wanted)
    assert not is_registered(None, wanted)
    assert not any(is_registered(known, {**wanted, name: "other"}) for name in wanted)
    assert not is_registered(known, wanted, 1_000 + 86_400_000)
    # The clock was set back.
    assert not is_registered({**known, "at": 90_000_000}, wanted)


def test_keys_in_both_forms(run):
    key = "BIn1Jz-8mbTvgM3_kR4Gm8yq0rWJpZ2t3H1V0b9o7xQ"
    script = """
        const { bytesOfKey, keyOfBytes } = await load("state/subscription.js");
        return [bytesOfKey(key).length, keyOfBytes(bytesOfKey(key).buffer), keyOfBytes(null)];
    """
    assert run(script, key=key) == [32, key, None]


@pytest.mark.parametrize(
    ("rows", "want"),
    [
        ([], False),
        ([{"conversation": {"kind": "direct"}}], False),
        ([{"conversation": {"kind": "self"}, "lastMessage": {"text": "Note"}}], False),
        ([{"conversation": {"kind": "group"}, "lastMessage": {"notice": {"kind": "joined"}}}], False),
        ([{"conversation": {"kind": "direct"}, "lastMessage": {"text": "Hi"}}], True),
    ],
)
def test_when_it_is_asked_for(call, rows, want):
    inbox = {"rows": {str(index): row for index, row in enumerate(rows)}}
    assert call("state/permission-hint.js", "hasWritten", inbox) is want
