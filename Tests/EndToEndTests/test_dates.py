"""Going to a day of a conversation: of a hundred days in 2020, on the server and on the device."""

import datetime

import pytest
from switchboard_tests import transfers
from switchboard_tests.browsers.chats import open_first
from switchboard_tests.browsers.pages import Person
from switchboard_tests.browsers.server import Server
from switchboard_tests.tcp_proxy import Proxy

DAYS = 100
SILENT = range(50, 55)
NOON = 12 * 3_600
# The text of the message that has the focus.
FOCUSED = "return document.activeElement.querySelector('.text')?.textContent ?? null"


def day(index):
    return (datetime.date(2020, 1, 1) + datetime.timedelta(days=index)).isoformat()


@pytest.fixture
def ann(request, browsers, tmp_path):
    """Ann, who has come over with what she and Ben wrote: three messages on most days."""
    if request.config.getoption("--url"):
        pytest.skip("imports into a server of its own")
    lines = [transfers.user("ann"), transfers.user("ben"), transfers.direct("c", "ann", "ben")]
    lines += [
        transfers.message(f"{day(index)} {turn}", "c", "ben", index * 86_400 + NOON + turn)
        for index in range(DAYS) if index not in SILENT for turn in range(3)
    ]  # fmt: skip
    own = Server(request.config.getoption("--binary"), tmp_path).start()
    own.command("import", str(transfers.write(tmp_path / "old.jsonl", lines)), "--source", "old")
    proxy = Proxy(own.port)
    browsers[0].keep_one_tab()
    browsers[0].open(proxy.url)
    made = Person(browsers[0], proxy.url, "Ann")
    made.email = "ann@old.example"
    made.sign_in(transfers.PASSWORD)
    made.is_in()
    yield made, proxy
    browsers[0].driver.get("about:blank")
    proxy.close()
    own.stop()


def go(person, wanted):
    script = "const field = document.querySelector('#go-to-date input'); field.value = arguments[0];"
    person.find("#go-to-date input")
    person.driver.execute_script(script, wanted)
    person.click("#go-to-date [data-choice=go]")


def is_at(person, text):
    person.browser.wait(f"the message {text}", lambda: person.driver.execute_script(FOCUSED) == f"text of {text}")


def from_details(person):
    person.click("[data-action=members]")
    person.click("#members [data-action=go-to-date]")


def test_going_to_a_date(ann):
    ann, proxy = ann
    ann.go("chats")
    open_first(ann)
    ann.find("#messages .message")
    from_details(ann)
    go(ann, day(10))
    is_at(ann, f"{day(10)} 0")
    # A divider says which day it is; without messages of a day the next one is shown.
    ann.driver.execute_script("document.activeElement.closest('.message').querySelector('.day button').click()")
    assert ann.find("#go-to-date input").get_attribute("value") == day(10)
    go(ann, day(52))
    is_at(ann, f"{day(55)} 0")
    from_details(ann)
    go(ann, day(DAYS + 3))
    ann.says("#toasts", "Nothing was written on that day or later.")
    # What is on this device is found without the server.
    ann.click("[data-action=to-newest]")
    proxy.cut()
    ann.find("#offline")
    from_details(ann)
    go(ann, day(DAYS - 2))
    is_at(ann, f"{day(DAYS - 2)} 0")
