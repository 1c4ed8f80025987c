"""Translations by a language model, which is a scripted server here: it is asked once for all who read a language, and
named under what it wrote."""

import json

import pytest
from switchboard_tests.browsers.chats import API, open_chat
from switchboard_tests.browsers.pages import Person, together
from switchboard_tests.browsers.server import Server
from switchboard_tests.translators import honest, serving, settings

RUSSIAN = "Завтра утром мы поедем на вокзал, не забудь взять билеты"
CHANGED = "Завтра вечером мы поедем на вокзал, билеты уже у меня"
ENGLISH = "Please bring the tickets and something to eat for all of us"


@pytest.fixture
def stage(request, browsers, tmp_path):
    """Ann and Ben, who read Spanish automatically, a group in which Cem writes, and the model:
    `([ann, ben], cem, group, provider)`."""
    server = Server(request.config.getoption("--binary"), tmp_path)
    with serving() as provider:
        server.config.write_text(f"{server.config.read_text()}languages: {json.dumps(settings(provider))}\n")
        server.start()
        for one in browsers:
            one.keep_one_tab()
        readers = [Person(one, server.url, name) for one, name in zip(browsers, ("Ann Abel", "Ben Brook"))]
        together(readers, Person.sign_up)
        apis = [API(one) for one in readers]
        for one in apis:
            one.ask("PATCH", "/v1/me", {"languages": ["es"], "translation": {"mode": "automatic"}})
        cem = API.of_new_user(server.url, "Cem Can")
        yield readers, cem, cem.create("group", apis, name="Station"), provider
        together(browsers, lambda one: one.driver.get("about:blank"))
        server.stop()


def under(number, status="done"):
    return f"#message-{number} [data-translation={status}]"


def is_translated(person, number, text, source):
    """The original stays, and who has translated it is said."""
    person.says(f"{under(number)} .text", f"[es] {text}")
    person.says(f"#message-{number} .bubble > .text", text)
    assert person.text(f"{under(number)} .translation-line span") == f"Translated from {source} · scripted"


def given(provider):
    return [text for prompt in provider.prompts for text in prompt["texts"].values()]


def test_it_is_asked_once_for_all_who_read_the_language(stage, pictures):
    readers, cem, group, provider = stage
    ann, ben = readers
    number = cem.say(group, RUSSIAN)
    open_chat(ann, group)
    is_translated(ann, number, RUSSIAN, "Russian")
    # For another reader, and for who comes back, it is there.
    open_chat(ben, group)
    is_translated(ben, number, RUSSIAN, "Russian")
    ann.driver.refresh()
    is_translated(ann, number, RUSSIAN, "Russian")
    assert given(provider) == [RUSSIAN]
    pictures(ann.browser, "translations-model")
    # Another text is another translation, at both.
    path = f"/v1/conversations/{group}/messages/{number}"
    version = cem.ask("GET", path)["message"]["textVersion"]
    cem.ask("PATCH", path, {"text": CHANGED, "textVersion": version})
    for one in readers:
        is_translated(one, number, CHANGED, "Russian")
    assert given(provider) == [RUSSIAN, CHANGED]
    # What fails is shown as it is, and is there for both once one of them has tried again.
    provider.script = lambda _: (401, {}, b'{"error": {"message": "no"}}')
    failed = cem.say(group, ENGLISH)
    for one in readers:
        one.says(under(failed, "failed"), "Not translated.")
        one.says(f"#message-{failed} .bubble > .text", ENGLISH)
    provider.script = honest
    provider.received.clear()
    ben.click(f"{under(failed, 'failed')} [data-action=retry-translation]")
    for one in readers:
        is_translated(one, failed, ENGLISH, "English")
    assert given(provider) == [ENGLISH]
