"""What is written while the server cannot be reached, and what is kept on the device: it is sent once, later, whatever
happens to the page, and nothing is left of who has signed out."""

import datetime
import uuid

import pytest
from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.chats import API, menu, open_chat, react, row_menu, shows, texts, write
from switchboard_tests.browsers.offline import FRIENDS, REFUSED, back, databases, is_saved, waiting
from switchboard_tests.browsers.pages import PASSWORD, Person
from switchboard_tests.browsers.server import Server

# Every clock of the page is an hour ahead.
AHEAD = """
const { now } = Date;
Date.now = () => now() + 3_600_000;
globalThis.Date = class extends Date {
    constructor(...values) { super(...(values.length > 0 ? values : [Date.now()])); }
};
"""
# The device sleeps for the minutes that are given, and wakes with the page in front.
SLEEP = """
const { now } = Date;
Date.now = () => now() + arguments[0] * 60_000;
document.dispatchEvent(new Event("visibilitychange"));
"""
# When the message that is given was looked at, what stands in the field is sent and the sign-in expires at once: a
# message and the mark of what was read still wait.
EXPIRE_IN_MID_SEND = """
const observer = new MutationObserver(() => {
    const isThere = (one) => one.textContent.includes(arguments[0]);
    if (![...document.querySelectorAll("#messages .text")].some(isThere)) return;
    observer.disconnect();
    setTimeout(() => {
        document.getElementById("composer").requestSubmit();
        setTimeout(() => globalThis.switchboard.credentials.end({ isExpired: true }));
    }, 100);
});
observer.observe(document.getElementById("messages"), { childList: true, subtree: true, characterData: true });
"""
# Notes the names of all requests over the socket.
NOTE_REQUESTS = """
const { realtime } = globalThis.switchboard;
const { request } = realtime;
globalThis.requests = [];
realtime.request = (name, params) => {
    requests.push(name);
    return request.call(realtime, name, params);
};
"""


def test_what_was_not_sent_survives_a_reload(pair, proxy):
    ann, ben, conversation = pair
    is_saved(ann, conversation)
    proxy.cut()
    write(ann, "one")
    write(ann, "two")
    waiting(ann, "one", "two")
    ann.says("#offline", "What you write is sent later. 2 are waiting.")
    # Without the server the page opens with what it had, and what waits.
    ann.driver.refresh()
    waiting(ann, "one", "two")
    ann.says("#message-1", "Hello")
    ann.says(f"#row-{conversation}", "Ben Brook")
    back(ann, proxy)
    shows(ann, "Hello", "one", "two")
    ann.gone("#offline")
    shows(ben, "Hello", "one", "two")


def test_a_tab_that_is_closed_in_mid_send_sends_once(pair, proxy):
    """The server has stored it, and the tab never learns of that."""
    ann, ben, conversation = pair
    proxy.swallow()
    write(ann, "once")
    shows(ben, "Hello", "once")
    ann.find("#messages [data-outgoing]")
    old = ann.driver.current_window_handle
    ann.driver.switch_to.new_window("tab")
    new = ann.driver.current_window_handle
    ann.browser.switch(old)
    ann.driver.close()
    ann.browser.switch(new)
    ann.browser.watch_tab()
    proxy.cut()
    proxy.restore()
    ann.driver.get(f"{ann.url}/#/c/{conversation}")
    shows(ann, "Hello", "once")
    write(ann, "and again")
    shows(ann, "Hello", "once", "and again")
    shows(ben, "Hello", "once", "and again")


def test_two_tabs_send_what_was_written_in_both(pair, proxy):
    ann, ben, conversation = pair
    second, first = ann.browser.new_tab(f"{ann.url}/#/c/{conversation}")
    shows(ann, "Hello")
    proxy.cut()
    write(ann, "in the second")
    waiting(ann, "in the second")
    ann.browser.switch(first)
    waiting(ann, "in the second")
    write(ann, "in the first")
    waiting(ann, "in the second", "in the first")
    # What is begun in one tab is in the field of the other.
    ann.find("#write").send_keys("half")
    ann.browser.switch(second)
    ann.browser.wait("the draft", lambda: ann.draft() == "half")
    ann.driver.close()
    ann.browser.switch(first)
    back(ann, proxy)
    shows(ann, "Hello", "in the second", "in the first")
    shows(ben, "Hello", "in the second", "in the first")


def test_two_tabs_without_locks_and_workers(pair, scripted, proxy):
    """Each tab sends what it can, the server stores each message once, and both stay signed in."""
    ann, ben, conversation = pair
    source = "delete Navigator.prototype.locks; delete Navigator.prototype.serviceWorker;"
    scripted(source)
    second, first = ann.browser.new_tab(f"{ann.url}/#/c/{conversation}")
    ann.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    ann.driver.refresh()
    shows(ann, "Hello")
    proxy.cut()
    write(ann, "in the second")
    ann.browser.switch(first)
    waiting(ann, "in the second")
    write(ann, "in the first")
    waiting(ann, "in the second", "in the first")
    back(ann, proxy)
    shows(ben, "Hello", "in the second", "in the first")
    shows(ann, "Hello", "in the second", "in the first")
    for tab in (first, second):
        ann.browser.switch(tab)
        has_either = ann.driver.execute_script("return 'locks' in navigator || 'serviceWorker' in navigator")
        assert not has_either
        ann.driver.execute_script("globalThis.switchboard.credentials.emit('expiring')")
    write(ann, "after both have refreshed")
    shows(ben, "Hello", "in the second", "in the first", "after both have refreshed")
    ann.driver.close()
    ann.browser.switch(first)
    shows(ann, "Hello", "in the second", "in the first", "after both have refreshed")


def test_changes_are_shown_at_once_and_made_later(pair, proxy):
    ann, ben, conversation = pair
    write(ann, "mine")
    write(ann, "wrong")
    shows(ann, "Hello", "mine", "wrong")
    is_saved(ann, conversation)
    proxy.cut()
    react(ann, 1, "👍")
    menu(ann, 2, "edit")
    write(ann, "!")
    menu(ann, 3, "delete-all")
    ann.click("#ask [data-choice=delete]")
    menu(ann, 2, "star")
    menu(ann, 2, "pin")
    row_menu(ann, conversation, "pin")

    def changed():
        ann.says("#message-1 .reaction", "👍")
        ann.says("#message-2 .text", "mine!")
        ann.says("#message-3 .text", "Message deleted")
        ann.find("#message-2 [aria-label=Starred]")
        ann.find(".pins")
        ann.find(f"#row-{conversation} [aria-label=Pinned]")

    changed()
    ann.driver.refresh()
    changed()
    assert texts(ben) == ["Hello", "mine", "wrong"]
    back(ann, proxy)
    shows(ben, "Hello", "mine!", "Message deleted")
    ben.says("#message-1 .reaction", "👍")
    changed()
    ann.browser.wait("the conversation to be pinned", lambda: API(ann).ask(
        "GET", f"/v1/conversations/{conversation}")["membership"].get("pinned"))


def test_a_change_that_is_refused_goes_back_and_says_why(pair, proxy):
    """Another device has edited the same message meanwhile."""
    ann, ben, conversation = pair
    other = API(ann)
    write(ann, "mine")
    shows(ann, "Hello", "mine")
    is_saved(ann, conversation)
    version = other.ask("GET", f"/v1/conversations/{conversation}/messages/2")["message"]["textVersion"]
    proxy.cut()
    menu(ann, 2, "edit")
    write(ann, " here")
    ann.says("#message-2 .text", "mine here")
    body = {"text": "mine elsewhere", "textVersion": version}
    proxied, ann.url = ann.url, ben.url
    API(ann).ask("PATCH", f"/v1/conversations/{conversation}/messages/2", body)
    ann.url = proxied
    proxy.restore()
    ann.says(".toast.error", "Your change was not made.", 40)
    shows(ann, "Hello", "mine elsewhere")
    shows(ben, "Hello", "mine elsewhere")


def test_a_thread_is_opened_from_the_device_and_searched_without_the_server(pair, proxy):
    ann, ben, conversation = pair
    write(ann, "The needle lies in the hay.")
    shows(ann, "Hello", "The needle lies in the hay.")
    is_saved(ann, conversation)
    proxy.cut()
    ann.go("chats")
    ann.find("#chat-search").send_keys("hay needle")
    ann.says("#search-results", "Messages on this device")
    ann.click("#search-results [data-found=message] a")
    ann.says("#message-2 .text", "The needle lies in the hay.")
    write(ben, "one")
    write(ben, "two")
    ann.driver.execute_script(NOTE_REQUESTS)
    back(ann, proxy)
    shows(ann, "Hello", "The needle lies in the hay.", "one", "two")
    # It goes on from where it was: no message was asked for.
    assert not {"messages.list", "messages.get", "inbox.list"} & set(ann.driver.execute_script("return requests"))


def test_friends_are_known_without_the_server(pair, proxy):
    ann, ben, _ = pair
    API(ben).ask("POST", "/v1/friends", {"clientID": str(uuid.uuid4()), "user": ann.user, "note": "From Rome"})
    ann.go("people")
    ann.says(".friend-requests .row", "From Rome")
    ann.browser.wait("them to be written", lambda: ann.driver.execute_async_script(FRIENDS, ann.user) == 1)
    proxy.cut()
    ann.driver.refresh()
    ann.says(".friend-requests .row", "From Rome")
    ann.click("[data-action=accept-friend]")
    ann.says(".friends .row", "Ben Brook")
    back(ann, proxy)
    ben.go("people")
    ben.says(".friends .row", "Ann Abel")


def test_the_server_is_killed_while_somebody_types(browsers, request, tmp_path):
    if request.config.getoption("--url"):
        pytest.skip("restarts the server")
    own = Server(request.config.getoption("--binary"), tmp_path).start()
    try:
        ann = Person(browsers[0], own.url, "Ann Abel").sign_up()
        notes = API(ann).create("self")
        open_chat(ann, notes)
        ann.find("#write").send_keys("half a ")
        own.kill()
        ann.find("#write").send_keys("thought")
        own.start()
        ann.is_online(40)
        assert ann.draft() == "half a thought"
        ann.driver.refresh()
        ann.browser.wait("the draft", lambda: ann.draft() == "half a thought")
        write(ann, "")
        shows(ann, "half a thought")
    finally:
        own.stop()


@pytest.mark.parametrize("where", ["another tab", "elsewhere", "elsewhere while it was away"])
def test_signing_out_erases_everything(pair, proxy, where):
    """A server that ended the sign-in meanwhile says so when the page asks for another token."""
    ann, ben, conversation = pair
    is_saved(ann, conversation)
    assert databases(ann)["cache"]["messages"] == 1
    if where == "another tab":
        _, first = ann.browser.new_tab(f"{ann.url}/#/settings")
        ann.click("[data-action=sign-out]")
        ann.find("#sign-in-form")
        ann.browser.switch(first)
    elif where == "elsewhere while it was away":
        proxied, ann.url = ann.url, ben.url
        other = API(ann)
        ann.url = proxied
        proxy.cut()
        write(ann, "nobody reads this")
        waiting(ann, "nobody reads this")
        other.ask("DELETE", "/v1/sessions/current")
        proxy.restore()
    else:
        ann.driver.execute_script("globalThis.switchboard.request('sessions.list').then(({ sessions }) => "
                                  "globalThis.switchboard.request('sessions.revoke', { session: sessions[0].id }))")
    ann.find("#sign-in-form")
    ann.browser.wait("the databases to be gone", lambda: databases(ann) == {})
    assert ann.driver.execute_script("return localStorage.getItem('switchboard.credentials')") is None


def test_signing_out_with_messages_that_wait_asks_first(pair, proxy):
    ann, ben, conversation = pair
    is_saved(ann, conversation)
    proxy.cut()
    write(ann, "one")
    write(ann, "two")
    waiting(ann, "one", "two")
    ann.go("settings")
    ann.click("[data-action=sign-out]")
    ann.says("#ask", "2 messages have not been sent, and are lost then.")
    ann.press(Keys.ESCAPE)
    ann.gone("#ask")
    open_chat(ann, conversation)
    back(ann, proxy)
    shows(ann, "Hello", "one", "two")
    shows(ben, "Hello", "one", "two")
    # Nothing waits any more, and nothing is asked.
    ann.go("settings")
    ann.click("[data-action=sign-out]")
    ann.find("#sign-in-form")


def test_an_expired_sign_in_keeps_what_waits_for_the_same_user(pair, proxy):
    ann, ben, _ = pair
    proxy.cut()
    write(ann, "before it expired")
    waiting(ann, "before it expired")
    ann.driver.execute_script("globalThis.switchboard.credentials.end({ isExpired: true })")
    ann.find("#sign-in-form")
    # What was read may wait as well.
    assert databases(ann)["queue"]["entries"] >= 1
    proxy.restore()
    ann.driver.refresh()
    ann.sign_in()
    # They are back at the address where they were.
    ann.is_online()
    shows(ann, "Hello", "before it expired")
    shows(ben, "Hello", "before it expired")


def test_nothing_is_on_the_screen_after_a_sign_in_expired_while_something_waited(pair):
    ann, ben, conversation = pair
    ann.find("#write").send_keys("in the middle")
    ann.driver.execute_script(EXPIRE_IN_MID_SEND, "Look here")
    write(ben, "Look here")
    ann.find("#sign-in-form")
    assert "Ben Brook" not in ann.driver.execute_script("return document.body.textContent")
    ann.sign_in()
    open_chat(ann, conversation)
    shows(ann, "Hello", "Look here", "in the middle")
    shows(ben, "Hello", "Look here", "in the middle")


def test_who_is_not_kept_signed_in_leaves_nothing(pair):
    ann, ben, conversation = pair
    ann.go("settings")
    ann.click("[data-action=sign-out]")
    ann.find("#sign-in-form")
    ann.click("#keep")
    ann.sign_in(PASSWORD)
    ann.is_in()
    open_chat(ann, conversation)
    write(ann, "from a computer that others use")
    shows(ben, "Hello", "from a computer that others use")
    shows(ann, "Hello", "from a computer that others use")
    assert databases(ann) == {}
    stored = ann.driver.execute_script("return JSON.stringify(localStorage)")
    assert ann.user not in stored and "computer" not in stored


@pytest.fixture
def scripted(pair):
    """Runs a script in every page of Ann's tab before its own: `scripted(source)`."""
    ann, _, _ = pair
    made = []

    def add(source):
        made.append(ann.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source}))
        ann.driver.refresh()
        ann.is_online()

    yield add
    for one in made:
        ann.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", one)


def test_a_browser_without_storage_works_and_says_so(pair, scripted):
    ann, ben, conversation = pair
    scripted(REFUSED)
    ann.says("#storage", "can’t store data")
    shows(ann, "Hello")
    write(ann, "from memory")
    shows(ben, "Hello", "from memory")
    ann.click("#storage [data-action=dismiss]")
    # Once is enough, whatever else cannot be written.
    ann.go("people")
    open_chat(ann, conversation)
    write(ann, "and more")
    shows(ben, "Hello", "from memory", "and more")
    ann.gone("#storage")


def test_a_full_disk_is_no_reason_to_lose_a_message(browsers, url, proxy):
    """Before the page has any storage: of an origin that it knows, a browser looks at the quota only now and then."""
    for one in browsers:
        one.keep_one_tab()
    quota = {"origin": proxy.url, "quotaSize": 1}
    browsers[0].driver.execute_cdp_cmd("Storage.overrideQuotaForOrigin", quota)
    people = zip(browsers, (proxy.url, url), ("Ann Abel", "Ben Brook"))
    ann, ben = [Person(one, where, name).sign_up() for one, where, name in people]
    ann.says("#storage", "can’t store data")
    conversation = API(ann).create("direct", [API(ben)])
    for person in (ann, ben):
        open_chat(person, conversation)
        shows(person, "Hello")
    proxy.cut()
    write(ann, "on a full disk")
    waiting(ann, "on a full disk")
    back(ann, proxy)
    shows(ann, "Hello", "on a full disk")
    shows(ben, "Hello", "on a full disk")


def test_storage_that_is_deleted_is_no_reason_either(pair):
    ann, ben, _ = pair
    erase = "for (const name of ['queue', 'cache.2']) indexedDB.deleteDatabase(`${name}.${arguments[0]}`)"
    ann.driver.execute_script(erase, ann.user)
    ann.says("#storage", "can’t store data")
    write(ann, "all the same")
    shows(ben, "Hello", "all the same")
    shows(ann, "Hello", "all the same")


def test_a_clock_that_is_an_hour_wrong(pair, proxy, scripted):
    """Nothing that waits is too old, no message disappears before its time, and a mute for an hour is one."""
    ann, ben, conversation = pair
    row = f"#row-{conversation}"
    API(ann).ask("PATCH", f"/v1/conversations/{conversation}", {"disappearAfter": 1800})
    API(ben).say(conversation, "gone in half an hour")
    ann.says("#messages", "gone in half an hour")
    scripted(AHEAD)
    ann.says("#message-3 .text", "gone in half an hour")
    ann.says(f"{row} .preview", "gone in half an hour")
    row_menu(ann, conversation, "mute")
    ann.click("#mute [data-mute=hour]")
    ann.find(f"{row} [aria-label=Muted]")
    ann.browser.wait("the mute", lambda: 3_500 < muted_seconds(ann, conversation) < 3_601)
    is_saved(ann, conversation)
    proxy.cut()
    write(ann, "written then")
    waiting(ann, "written then")
    ann.driver.refresh()
    waiting(ann, "written then")
    ann.says("#message-3 .text", "gone in half an hour")
    ann.says(f"{row} .preview", "gone in half an hour")
    ann.find(f"{row} [aria-label=Muted]")
    back(ann, proxy)
    ann.says("#message-4 .text", "written then")
    ben.says("#message-4 .text", "written then")
    ann.says(f"{row} .preview", "written then")


def muted_seconds(person, conversation):
    """For how long a conversation is muted from now on: 0 if it is not."""
    membership = API(person).ask("GET", f"/v1/conversations/{conversation}")["membership"]
    if "muted" not in membership:
        return 0
    until = datetime.datetime.fromisoformat(membership["muted"]["until"])
    return (until - datetime.datetime.now(datetime.UTC)).total_seconds()


def test_a_message_and_a_mute_end_in_the_list_without_the_server(pair, proxy):
    """The row, the count beside the link and the title change, though nothing comes and nobody does anything."""
    ann, ben, conversation = pair
    row = f"#row-{conversation}"
    row_menu(ann, conversation, "mute")
    ann.click("#mute [data-mute=hour]")
    ann.browser.wait("the mute", lambda: muted_seconds(ann, conversation) > 0)
    ann.go("chats")
    API(ben).say(conversation, "stays")
    API(ben).ask("PATCH", f"/v1/conversations/{conversation}", {"disappearAfter": 1800})
    API(ben).say(conversation, "gone in half an hour")
    ann.says(f"{row} .preview", "gone in half an hour")
    ann.says(f"{row} [data-count=unread]", "2")
    proxy.cut()
    ann.find("#offline")
    assert ann.driver.title == "Switchboard"
    ann.driver.execute_script(SLEEP, 40)
    ann.says(f"{row} .preview", "Message deleted")
    ann.says(f"{row} [data-count=unread]", "1")
    assert "gone in half an hour" not in ann.attribute(row, "outerHTML")
    ann.find(f"{row} [aria-label=Muted]")
    assert ann.driver.title == "Switchboard"
    ann.driver.execute_script(SLEEP, 30)
    ann.gone(f"{row} [aria-label=Muted]")
    ann.browser.wait("the title", lambda: ann.driver.title == "(1) Switchboard")
    ann.says("[data-count=chats]", "1")


def test_somebody_else_finds_nothing(pair, proxy):
    """Another user of the same browser, after a sign-in has expired."""
    ann, _, conversation = pair
    is_saved(ann, conversation)
    ann.click("[data-action=members]")
    ann.find("#members")
    ann.driver.execute_script("globalThis.switchboard.credentials.end({ isExpired: true })")
    ann.find("#sign-in-form")
    assert "Ben Brook" not in ann.driver.execute_script("return document.body.textContent")
    email = f"cem-{uuid.uuid4().hex[:10]}@example.org"
    ann.click("#to-sign-up")
    ann.fill(displayName="Cem Can", email=email, password=PASSWORD)
    ann.find("#field-password").send_keys(Keys.ENTER)
    ann.is_in()
    ann.go("chats")
    ann.says(".chat-list", "No chats yet")
    ann.driver.execute_script("location.hash = arguments[0]", f"#/c/{conversation}")
    ann.find(".absent-thread .link")
    assert texts(ann) == []
