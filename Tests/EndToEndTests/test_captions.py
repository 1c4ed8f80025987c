"""Live captions: what Ben says into his microphone appears on the others' pages while he speaks."""

import pytest
from switchboard_tests.browsers.browser import DESK, PHONE
from switchboard_tests.browsers.chats import API
from switchboard_tests.browsers.pages import WORDS, connect, only_the_second_speaks

pytestmark = pytest.mark.alone


def reads(person, other):
    """Waits for some of the words, under the name of who says them."""

    def condition():
        lines = person.driver.execute_script(
            "return [...document.querySelectorAll('#captions .caption')].map((one) => [one.dataset.user, "
            "one.innerText]);"
        )
        assert {user for user, _ in lines} <= {other.user}, lines
        words = " ".join(text for _, text in lines).split()
        return len(set(WORDS.split()) & set(words)) >= 3 and f"{other.name}" in lines[-1][1]

    person.browser.wait("the words", condition, 60)


def test_captions_appear_on_the_pages_of_the_others(three, listener, pictures):
    ann, ben, cem = three
    _, broken = listener
    only_the_second_speaks(three)
    assert ann.attribute("[data-action=captions]", "aria-label") == "Turn captions on (C)"
    ann.control("captions")
    ann.says("#call-captioned", "You turned captions on")
    for other in (ben, cem):
        other.says("#call-captioned", "Ann Abel turned captions on")
    for person in three:
        reads(person, ben)
    pictures(ann.browser, "captions")
    cem.browser.resize(PHONE)
    reads(cem, ben)
    pictures(cem.browser, "phone-captions")
    cem.browser.resize(DESK)
    assert ann.attribute("#captions [role=log]", "aria-label") == "Captions"

    # They are also shown after a reload.
    cem.driver.refresh()
    cem.says("#call-captioned", "Ann Abel turned captions on", limit=60)
    reads(cem, ben)

    # An error is shown until it is resolved.
    broken.touch()
    for person in three:
        person.browser.wait(
            "the reason",
            lambda person=person: "No captions at the moment" in person.text("#captions .caption-trouble"),
            60,
        )
    pictures(ann.browser, "captions-failed")
    broken.unlink()
    for person in three:
        person.gone("#captions .caption-trouble:not([hidden])", limit=60)
        reads(person, ben)

    # Anybody can turn them off for all.
    ben.control("captions")
    for person in three:
        person.gone("#captions:not([hidden])")
        person.gone("#call-captioned:not([hidden])")
        assert person.attribute("[data-action=captions]", "aria-label") == "Turn captions on (C)"
        person.hang_up()


def test_captions_in_the_readers_language(three, listener, pictures):
    """Cem reads Portuguese, and has what Ben says in it, under the words themselves."""
    ann, ben, cem = three
    API(cem).ask("PATCH", "/v1/me", {"languages": ["pt-BR"], "translation": {"mode": "automatic"}})
    mode = "return globalThis.switchboard.credentials.user.translation?.mode"
    cem.browser.wait("the profile", lambda: cem.driver.execute_script(mode) == "automatic")
    only_the_second_speaks(three)
    ann.control("captions")
    cem.says("#call-captioned", "Ann Abel turned captions on")
    reads(cem, ben)
    button = "[data-action=translate-captions]"
    assert cem.find(f"{button}[aria-pressed=true]").text == "In Brazilian Portuguese"
    shown = cem.find(".caption .caption-words + .caption-translation")
    assert shown.get_attribute("lang") == "pt-BR" and shown.get_attribute("dir") == "auto"
    cem.browser.wait("words in Portuguese", lambda: any(
        set(one.text.lower().replace(",", " ").split()) & {"um", "dois", "três", "quatro", "cinco", "seis"}
        for one in cem.all(".caption-translation")
    ))  # fmt: skip
    pictures(cem.browser, "captions-translated")
    cem.browser.resize(PHONE)
    cem.find(".caption-translation")
    pictures(cem.browser, "phone-captions-translated")
    cem.browser.resize(DESK)
    # Ann has not asked for any.
    assert not ann.all(".caption-translation")
    # It can be turned off for this call, and on again.
    cem.click(button)
    cem.find(f"{button}[aria-pressed=false]")
    cem.gone(".caption-translation")
    reads(cem, ben)
    assert not cem.all(".caption-translation")
    cem.click(button)
    cem.find(".caption-translation")
    for person in three:
        person.hang_up()


def test_a_direct_call_has_no_captions(ann, ben):
    connect(ann, ben)
    assert not ann.all("[data-action=captions]:not([hidden])")
    ann.hang_up()
