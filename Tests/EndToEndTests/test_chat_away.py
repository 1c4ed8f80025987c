"""A page that comes back: after many messages, in tabs that were duplicated, frozen or crashed, and to a server that
was restored from a backup."""

import contextlib

import pytest
from selenium.common.exceptions import WebDriverException
from switchboard_tests.browsers.chats import API, open_chat, shows, texts, write
from switchboard_tests.browsers.offline import back, databases, waiting
from switchboard_tests.browsers.pages import Person
from switchboard_tests.browsers.server import Server

NUMBERS = "return [...document.querySelectorAll('#messages [data-number]')].map((one) => Number(one.dataset.number))"
SCROLL_UP = "document.querySelector('.scroller').scrollTop = 0"
# Which endpoint the tab is, as the server knows it.
ENDPOINT = "return sessionStorage.getItem(Object.keys(sessionStorage).find((key) => key.includes('endpoint')))"
# A transaction on the queue that goes on until the tab was frozen and is not any more.
HOLD_DISK = """
const opening = indexedDB.open(`queue.${arguments[0]}`);
let isOver = false;
document.addEventListener("resume", () => { isOver = true; });
opening.onsuccess = () => {
    const entries = opening.result.transaction("entries", "readwrite").objectStore("entries");
    const goOn = () => { if (isOver) opening.result.close(); else entries.count().onsuccess = goOn; };
    goOn();
};
"""


@pytest.fixture(scope="module")
def browsers(whole_browsers):
    """The engine alone does not outlive a tab that crashes."""
    return whole_browsers


def test_500_messages_while_it_was_away(pair, proxy):
    """Ann is at the end before and after; each message is there once, in its order, with what she wrote meanwhile."""
    ann, ben, conversation = pair
    proxy.cut()
    write(ann, "mine")
    waiting(ann, "mine")
    API(ben).say(conversation, *[f"line {number}" for number in range(500)])
    back(ann, proxy)
    ann.says("#message-501 .text", "line 499", 40)
    ann.says("#message-502 .text", "mine", 40)
    ann.gone("#messages [data-outgoing]")

    def all_of(limit):
        found = ann.driver.execute_script(NUMBERS)
        assert found == list(range(found[0], found[-1] + 1)), found
        return found[0] <= limit

    def scrolled(limit):
        ann.driver.execute_script(SCROLL_UP)
        return all_of(limit)

    ann.browser.wait("earlier ones", lambda: scrolled(300))
    open_chat(ann, conversation, 100)
    ann.says("#message-100 .text", "line 98")
    assert all_of(100)
    ann.click("[data-action=to-newest]")
    ann.says("#message-502 .text", "mine")


def test_tabs_that_are_duplicated_frozen_and_crash_in_mid_send(pair, proxy):
    ann, ben, conversation = pair
    first = ann.driver.current_window_handle
    mine = ann.driver.execute_script(ENDPOINT)
    # A duplicate has what is in the session storage, and is an endpoint of its own.
    ann.driver.execute_script("window.open(location.href)")
    second = ann.browser.wait("another tab", lambda: [one for one in ann.driver.window_handles if one != first])[0]
    ann.browser.switch(second)
    ann.browser.watch_tab()
    ann.is_online()
    shows(ann, "Hello")
    assert ann.driver.execute_script(ENDPOINT) != mine
    write(ann, "from the duplicate")
    shows(ann, "Hello", "from the duplicate")
    ann.browser.switch(first)
    ann.is_online()
    write(ann, "from the first")
    shows(ann, "Hello", "from the duplicate", "from the first")
    # The first one has sent, and holds the lock: it is frozen with it, and in the middle of writing to the disk.
    ann.driver.execute_script(HOLD_DISK, ann.user)
    ann.driver.execute_cdp_cmd("Page.setWebLifecycleState", {"state": "frozen"})
    ann.browser.switch(second)
    write(ann, "while it was frozen")
    shows(ben, "Hello", "from the duplicate", "from the first", "while it was frozen")
    ann.browser.switch(first)
    ann.driver.execute_cdp_cmd("Page.setWebLifecycleState", {"state": "active"})
    shows(ann, "Hello", "from the duplicate", "from the first", "while it was frozen")
    ann.browser.wait("the queue to be empty on the disk too", lambda: databases(ann)["queue"]["entries"] == 0)
    # The server has stored it, and a tab dies before it learns of that: one with a process of its own.
    ann.browser.new_tab(f"{ann.url}/#/c/{conversation}")
    shows(ann, "Hello", "from the duplicate", "from the first", "while it was frozen")
    proxy.swallow()
    write(ann, "once")
    ben.browser.wait("it", lambda: "once" in texts(ben))
    with contextlib.suppress(WebDriverException):
        ann.driver.execute_cdp_cmd("Page.crash", {})
    ann.browser.switch(first)
    proxy.cut()
    back(ann, proxy)
    shows(ann, "Hello", "from the duplicate", "from the first", "while it was frozen", "once")
    shows(ben, "Hello", "from the duplicate", "from the first", "while it was frozen", "once")


def test_a_server_that_was_restored_from_a_backup(browsers, request, tmp_path):
    """It has lost a message, whose number another one gets. What waits is sent."""
    if request.config.getoption("--url"):
        pytest.skip("restarts the server")
    (tmp_path / "own").mkdir()
    own = Server(request.config.getoption("--binary"), tmp_path / "own").start()
    try:
        ann = Person(browsers[0], own.url, "Ann Abel").sign_up()
        notes = API(ann).create("self")
        open_chat(ann, notes)
        write(ann, "one")
        shows(ann, "one")
        own.command("backup", str(tmp_path / "backup"))
        write(ann, "lost")
        shows(ann, "one", "lost")
        ann.find("#write").send_keys("half a thought")
        own.stop()
        (own.directory / "data").rename(tmp_path / "lost")
        own.command("restore", str(tmp_path / "backup"))
        own.start()
        ann.is_online(40)
        shows(ann, "one")
        assert ann.draft() == "half a thought"
        write(ann, "")
        shows(ann, "one", "half a thought")
        ann.driver.refresh()
        shows(ann, "one", "half a thought")
    finally:
        own.stop()
