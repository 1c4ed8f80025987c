"""state/address.js: which page an address leads to, and which lead nowhere."""

import pytest

ID = "0198c0de-0000-7000-8000-00000000000a"


@pytest.mark.parametrize(
    ("hash", "want"),
    [
        ("", ["people"]),
        ("#", ["people"]),
        ("#/", ["people"]),
        ("#/people", ["people"]),
        (f"#/people/{ID}", ["people", ID]),
        ("#/chats/", ["chats"]),
        ("#/settings/privacy", ["settings", "privacy"]),
        (f"#/c/{ID}", ["c", ID]),
        (f"#/c/{ID.upper()}/12", ["c", ID.upper(), "12"]),
        (f"#/c/{ID}/12/thread", ["c", ID, "12", "thread"]),
        ("#/l/Abc_-9", ["l", "Abc_-9"]),
        ("#/assistant", ["assistant"]),
        (f"#/assistant/{ID}", ["assistant", ID]),
        (f"#/ask/{ID}", ["ask", ID]),
    ],
)
def test_pages(call, hash, want):
    found = call("state/address.js", "pageOf", hash)
    assert [found["key"], *found["rest"]] == want


@pytest.mark.parametrize(
    "hash",
    [
        "#main", "#people", "#/nowhere", "#/constructor", "#/__proto__", "#/chats/1", "#/people/ben", "#/c", "#/c/", "#/l/", "#/ask", "#/assistant/new", "#//x",
        "#/c/12", f"#/c/{ID}/0", f"#/c/{ID}/-1", f"#/c/{ID}/1e3", f"#/c/{ID}/12/edits", f"#/c/{ID}/12/thread/1",
        f"#/c/{ID}/9999999999999999", "#/settings/<b>", f"#/c/{ID}x",
    ],
)  # fmt: skip
def test_addresses_that_lead_nowhere(call, hash):
    assert call("state/address.js", "pageOf", hash) is None


@pytest.mark.parametrize(
    ("hash", "want"),
    [
        (f"#/answer/{ID}", ID),
        ("#/answer", None),
        ("#/answer/12", None),
        (f"#/answer/{ID}/1", None),
        (f"#/c/{ID}", None),
        ("", None),
    ],
)
def test_an_address_that_answers_a_call_is_no_page(call, hash, want):
    assert call("state/address.js", "callToAnswer", hash) == want
    assert want is None or call("state/address.js", "pageOf", hash) is None


@pytest.mark.parametrize(
    ("path", "hash", "want"),
    [
        ("/", "", None),
        ("/", "#/chats", None),
        ("/index.html", "#/chats", "/#/chats"),
        ("/nonsense", "", "/#/nonsense"),
        (f"/c/{ID}/12", "", f"/#/c/{ID}/12"),
        ("/settings/", "#/chats", "/#/settings/"),
        ("//example.org/", "", "/#//example.org/"),
    ],
)
def test_paths_that_are_not_the_page(call, path, hash, want):
    """They lead into this origin, whatever they are."""
    assert call("state/address.js", "addressOfPath", path, hash) == want
