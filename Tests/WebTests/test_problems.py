"""connection/problems.js: which errors are transient, and the message for each."""

import pytest

MESSAGE = """
    const { Problem, errorMessage } = await load("connection/problems.js");
    return errorMessage(new Problem(document));
"""


@pytest.mark.parametrize(
    ("document", "is_transient"),
    [
        ({"type": "network"}, True),
        ({"type": "timeout"}, True),
        ({"type": "unavailable", "status": 503}, True),
        ({"type": "storage_full", "status": 503}, True),
        ({"type": "rate_limited", "status": 429}, True),
        ({"type": "internal", "status": 500}, True),
        ({"type": "something_new", "status": 502}, True),
        ({"type": "internal"}, False),
        ({"type": "not_found", "status": 404}, False),
        ({"type": "conflict", "status": 409}, False),
        ({"status": 499}, False),
        ({}, False),
    ],
)
def test_transient(run, document, is_transient):
    script = 'const { Problem } = await load("connection/problems.js"); return new Problem(document).isTransient;'
    assert run(script, document=document) is is_transient


def test_fields(run):
    document = {"type": "conflict", "title": "Conflict", "detail": "Taken.", "status": 409, "field": "email",
                "retryAfter": 250, "winner": {"generation": 3}}  # fmt: skip
    found = run("""
        const { Problem } = await load("connection/problems.js");
        const { message, name, type, status, field, detail, retryAfter, winner } = new Problem(document);
        return { message, name, type, status, field, detail, retryAfter, winner };
    """, document=document)
    del document["title"]
    assert found == {**document, "message": "Taken.", "name": "Problem"}


def test_an_empty_document(run):
    assert run("""
        const { Problem } = await load("connection/problems.js");
        const { message, type, status, detail } = new Problem({});
        return { message, type, status, detail };
    """) == {"message": "", "type": "internal", "status": 0, "detail": None}


@pytest.mark.parametrize(
    ("document", "text"),
    [
        # Written for people: shown as it is.
        ({"type": "invalid_request", "detail": "Expected a name."}, "Expected a name."),
        ({"type": "unauthenticated", "detail": "Wrong password."}, "Wrong password."),
        ({"type": "unauthenticated"}, "Please sign in again."),
        ({"type": "conflict", "detail": "Ben is in your call."}, "Ben is in your call."),
        ({"type": "forbidden", "detail": "Not yours."}, "Not yours."),
        # Not written for people: replaced.
        ({"type": "internal", "detail": "SQLITE_FULL"}, "Something went wrong on the server. Please try again."),
        ({"type": "rate_limited", "detail": "token bucket"}, "Too many requests. Please wait a moment and try again."),
        ({"type": "network"}, "Can’t reach the server. Check your connection and try again."),
        # A type of a later server.
        ({"type": "something_new", "detail": "Turn it off and on."}, "Turn it off and on."),
        ({"type": "something_new"}, "Something went wrong on the server. Please try again."),
        ({"type": "invalid_request"}, "Something went wrong on the server. Please try again."),
        ({}, "Something went wrong on the server. Please try again."),
    ],
)
def test_messages(run, document, text):
    assert run(MESSAGE, document=document) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("NotAllowedError", "Switchboard may not use your camera. Allow it in your browser’s site settings."),
        ("NotFoundError", "No camera was found. Connect one and try again."),
        ("NotReadableError", "Your camera is in use by another program."),
        ("OverconstrainedError", "The chosen camera is not connected."),
        ("AbortError", "Something went wrong. Please try again."),
    ],
)
def test_messages_for_devices(run, name, text):
    script = 'return (await load("connection/problems.js")).errorMessage(new DOMException("details", name), "camera");'
    assert run(script, name=name) == text


@pytest.mark.parametrize("error", ["undefined", "null", "new Error('broken')", "'text'", "{}"])
def test_a_message_for_anything(run, error):
    script = f'return (await load("connection/problems.js")).errorMessage({error});'
    assert run(script) == "Something went wrong. Please try again."


def test_why_the_server_has_failed_by_itself(run):
    """In English it says more itself; in another language people are not shown English where the catalogue has words."""
    script = """
        const { failureMessage } = await load("connection/problems.js");
        const { setLocale } = await load("language/locale.js");
        const failures = [{ type: "provider_failed", detail: "The transcriber ended with 1." }, { type: "consent_required", detail: "No." },
            { type: "something_new", detail: "Turn it off and on." }, undefined];
        const english = failures.map(failureMessage);
        setLocale("es", { problems: { provider_failed: "Un servicio no respondió." } });
        const spanish = failures.map(failureMessage);
        setLocale("en");
        return [english, spanish];
    """
    consent = "Machines may not do this: the server, the chat or whoever wrote or said it does not allow it."
    internal = "Something went wrong on the server. Please try again."
    assert run(script) == [
        ["The transcriber ended with 1.", consent, "Turn it off and on.", internal],
        ["Un servicio no respondió.", consent, "Turn it off and on.", internal],
    ]
