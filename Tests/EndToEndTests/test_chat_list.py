"""The list of conversations, the composer's drafts and mentions, and the search. One pair for the whole file."""

import uuid

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.browser import PHONE
from switchboard_tests.browsers.chats import API, menu, open_chat, row, row_menu, shows, write

ROWS = "return [...document.querySelectorAll('#inbox .row')].map((one) => one.dataset.conversation);"

MIDDLE = """
const { x, y, width, height } = document.querySelector(arguments[0]).getBoundingClientRect();
return [x + width / 2, y + height / 2];
"""
TYPE_OF_ICON = """
const [done] = arguments;
fetch(document.querySelector("link[rel=icon]").href).then(({ headers }) => done(headers.get("content-type")));
"""


@pytest.fixture(scope="module")
def direct(apis):
    return apis[0].create("direct", [apis[1]])


def kept(api, conversation):
    """The draft that the server keeps."""
    return api.ask("GET", f"/v1/conversations/{conversation}")["membership"].get("draft", {}).get("text", "")


def test_drafts_over_two_devices(chatters, apis, direct, browsers, url):
    """Here at once, on the server after a pause or at leaving, and not back after it was sent."""
    ann, ben = chatters
    open_chat(ann, direct)
    ann.find("#write").send_keys("half a thought")
    ann.go("people")
    ann.browser.wait("the draft on the server", lambda: kept(apis[0], direct) == "half a thought")
    ann.go("chats")
    ann.says(f"#row-{direct} .preview", "Draft: half a thought")
    # A page that reloads has it, and so has another device.
    ann.driver.refresh()
    open_chat(ann, direct)
    ann.browser.wait("the draft", lambda: ann.draft() == "half a thought")
    # What another device saves comes where nothing is being typed, and never into what is.
    ann.driver.execute_script("document.activeElement.blur()")
    other = {"draft": {"text": "from the other device", "revision": 50}}
    apis[0].ask("PATCH", f"/v1/conversations/{direct}/members/me", other)
    ann.browser.wait("the other device's draft", lambda: ann.draft() == "from the other device")
    ann.find("#write").send_keys(" and mine")
    other = {"draft": {"text": "late", "revision": 60}}
    apis[0].ask("PATCH", f"/v1/conversations/{direct}/members/me", other)
    ann.browser.wait("mine to be kept", lambda: kept(apis[0], direct) == "from the other device and mine")
    assert ann.draft() == "from the other device and mine"
    ann.press(Keys.ENTER)
    ann.says("#messages .text", "from the other device and mine")
    ann.browser.wait("no draft", lambda: kept(apis[0], direct) == "" and ann.draft() == "")
    ann.go("chats")
    row(ann, "You: from the other device and mine")
    ann.driver.refresh()
    open_chat(ann, direct)
    ann.says("#messages .text", "from the other device and mine")
    assert ann.draft() == ""
    assert ben


def test_enter_during_composition_does_not_send(chatters, direct):
    ann, _ = chatters
    open_chat(ann, direct)
    field = ann.find("#write")
    field.send_keys("nihon")
    script = """
        const field = document.getElementById("write");
        const key = (values) => field.dispatchEvent(new KeyboardEvent("keydown",
            { key: "Enter", bubbles: true, cancelable: true, ...values }));
        return [key({ isComposing: true }), key({ keyCode: 229 })];
    """
    assert ann.driver.execute_script(script) == [True, True]
    assert ann.draft() == "nihon"
    field.send_keys(Keys.SHIFT, Keys.ENTER)
    field.send_keys(Keys.NULL, "go")
    assert ann.draft() == "nihon\ngo"
    field.clear()
    field.send_keys(" ", Keys.BACKSPACE)


def test_mentions_are_completed_and_counted(chatters, apis, group):
    ann, ben = chatters
    ben.go("chats")
    open_chat(ann, group)
    ann.find("#write").send_keys("Hi @br")
    ann.says(".completions [aria-selected=true]", "Ben Brook")
    ann.press(Keys.ENTER)
    assert ann.draft() == "Hi @Ben Brook "
    ann.press(Keys.ENTER)
    ann.says("#messages .mention", "@Ben Brook")
    ben.find(f"#row-{group} .count[aria-label='1 mention you']")
    message = apis[0].ask("GET", f"/v1/conversations/{group}/messages?limit=1")["messages"][0]
    assert message["text"] == f"Hi <@{apis[1].user}>"


def test_order_menus_filters_and_the_archive(chatters, apis, group):
    ann, ben = chatters
    notes = apis[1].create("self")
    apis[1].say(notes, "newest")
    ben.go("chats")
    row(ben, "newest")
    assert ben.driver.execute_script(ROWS)[0] == notes
    apis[0].say(group, "comes up")
    ben.browser.wait("the group to be first", lambda: ben.driver.execute_script(ROWS)[0] == group)
    row_menu(ben, notes, "pin")
    ben.browser.wait("the pinned one to be first", lambda: ben.driver.execute_script(ROWS)[0] == notes)
    row_menu(ben, notes, "pin")
    ben.browser.wait("the group to be first", lambda: ben.driver.execute_script(ROWS)[0] == group)

    row_menu(ben, group, "mute")
    ben.click("#mute [data-mute=hour]")
    ben.find(f"#row-{group} [aria-label=Muted]")
    row_menu(ben, group, "mute")
    ben.gone(f"#row-{group} [aria-label=Muted]")

    row_menu(ben, group, "unread")
    ben.gone(f"#row-{group} [data-count=unread]")
    row_menu(ben, group, "unread")
    ben.find(f"#row-{group} [aria-label='Marked as unread']")
    ben.click("[data-filter=unread]")
    ben.gone(f"#row-{notes}")
    ben.find(f"#row-{group}")
    ben.click("[data-filter=groups]")
    ben.gone(f"#row-{notes}")
    ben.click("[data-filter=all]")
    ben.find(f"#row-{notes}")

    row_menu(ben, notes, "archive")
    ben.gone(f"#row-{notes}")
    ben.click("[data-action=undo]")
    ben.find(f"#row-{notes}")
    row_menu(ben, notes, "archive")
    ben.gone(f"#row-{notes}")
    ben.go("archive")
    ben.find(f"#row-{notes}")
    # After a reload it is asked for.
    ben.driver.refresh()
    ben.find(f"#row-{notes}")
    row_menu(ben, notes, "archive")
    ben.gone(f"#row-{notes}")

    # What is cleared goes from the thread that is open, too.
    ben.go("chats")
    open_chat(ben, group)
    ben.says("#messages .text", "comes up")
    row_menu(ben, group, "clear")
    ben.click("#ask [data-choice=clear]")
    ben.says(f"#row-{group} .preview", "No messages yet")
    ben.gone("#messages .text")
    ben.go("chats")
    row_menu(ben, group, "delete")
    ben.click("#ask [data-choice=delete]")
    ben.gone(f"#row-{group}")
    apis[0].say(group, "back again")
    ben.says(f"#row-{group} .preview", "back again")
    row_menu(ben, group, "leave")
    ben.click("#ask [data-choice=leave]")
    ben.says(f"#row-{group} .preview", "You are not in this group any more.")
    assert ann


def test_only_the_row_that_has_changed_is_drawn_anew(chatters, apis, direct, group):
    """Where messages come fast, drawing every row for each of them is what keeps a page from reacting."""
    ann, _ = chatters
    apis[1].say(direct, "before")
    ann.go("chats")
    ann.says(f"#row-{direct} .preview", "before")
    ann.find(f"#row-{group}")
    mark = """for (const one of document.querySelectorAll("#inbox > .row")) one.wasThere = true;"""
    ann.driver.execute_script(mark)
    apis[1].say(direct, "after")
    ann.says(f"#row-{direct} .preview", "after")
    fresh = """return [...document.querySelectorAll("#inbox > .row")].filter((one) => !one.wasThere)
        .map((one) => one.dataset.conversation);"""
    assert ann.driver.execute_script(fresh) == [direct]


def test_typing_and_presence_in_the_list(chatters, direct):
    ann, ben = chatters
    ben.go("chats")
    ben.find(f"#row-{direct} .presence[data-online=true]")
    open_chat(ann, direct)

    def types():
        ann.find("#write").send_keys("x")
        return "typing" in ben.text(f"#row-{direct} .preview")

    ben.browser.wait("Ann to type", types)
    ann.find("#write").clear()
    ann.find("#write").send_keys(" ", Keys.BACKSPACE)


def test_search_over_chats_people_and_messages(chatters, apis, group):
    ann, ben = chatters
    word = f"needle{uuid.uuid4().hex[:6]}"
    number = apis[1].say(group, f"a {word} in the hay")
    apis[1].say(group, *(f"after {turn}" for turn in range(70)))
    ann.go("chats")
    ann.find("#chat-search").send_keys("ben")
    ann.says("#search-results [data-found=chat] mark", "Ben")
    field = ann.find("#chat-search")
    field.clear()
    field.send_keys(word)
    ann.says("#search-results [data-found=message] mark", word)
    ann.click("#search-results [data-found=message] a")
    ann.find(f"#message-{number}")
    ann.browser.wait("the message to be chosen",
                     lambda: ann.driver.execute_script("return document.activeElement.id") == f"message-{number}")
    ann.go("chats")
    field = ann.find("#chat-search")
    field.clear()
    field.send_keys("zzzzqqq")
    ann.says("#search-results", "Nothing found for “zzzzqqq”.")
    field.send_keys(Keys.ESCAPE)
    ann.find("#inbox")
    assert ben


def test_a_row_names_whom_its_thread_knows(chatters, apis, group):
    ann, _ = chatters
    other = API.of_new_user(ann.url, "Cem Can")
    apis[0].ask("POST", f"/v1/conversations/{group}/members", {"members": [other.user]})
    other.ask("POST", f"/v1/conversations/{group}/members/me/accept")
    open_chat(ann, group)
    ann.says("#messages", "Cem Can joined")
    ann.go("chats")
    ann.says(f"#row-{group}", "Cem Can joined")
    # On this device it is known after a reload too.
    ann.driver.refresh()
    ann.says(f"#row-{group}", "Cem Can joined")


def test_the_switcher(chatters, apis, group):
    ann, _ = chatters
    ann.go("people")
    ann.driver.find_element("css selector", "body").send_keys(Keys.CONTROL, "k")
    ann.find("#switcher-input").send_keys(Keys.NULL, "switcher")
    ann.browser.wait("one to be found", lambda: len(ann.all("#switcher-list .option")) == 1)
    ann.press(Keys.ENTER)
    ann.says(".thread-head h1", "the_switcher")
    assert ann.driver.execute_script("return location.hash").startswith(f"#/c/{group}")
    assert apis


def test_on_a_phone_the_list_and_the_chat_take_turns(chatters, direct):
    ann, _ = chatters
    ann.browser.resize(PHONE)
    try:
        ann.go("chats")
        ann.click(f"#row-{direct} a")
        ann.find("#write")
        assert not ann.find("main").find_element("css selector", ".chat-list").is_displayed()
        ann.click(".thread-head .back")
        ann.find("#inbox")
        assert not [one for one in ann.all(".thread") if one.is_displayed()]
    finally:
        ann.browser.resize((1280, 800))


def test_notes_to_oneself(chatters):
    ann, _ = chatters
    ann.go("chats")
    ann.click("[data-action=notes]")
    ann.says(".thread-head h1", "Notes")
    write(ann, "do not forget")
    shows(ann, "do not forget")


def test_nothing_moves_under_a_pressed_pointer(chatters, apis, group):
    ann, _ = chatters
    other = apis[0].create("group", [apis[1]], name="another group")
    ann.go("chats")
    ann.browser.wait("the newest to be first", lambda: ann.driver.execute_script(ROWS)[0] == other)
    before = ann.driver.execute_script(ROWS)
    ActionChains(ann.driver).move_to_element(ann.find(f"#row-{other} .preview")).click_and_hold().perform()
    apis[1].say(group, "comes up")
    # It has come: the title waits for nothing.
    ann.browser.wait("the title", lambda: ann.driver.title.startswith("("))
    frames = "const [done] = arguments; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));"
    ann.driver.execute_async_script(frames)
    assert ann.driver.execute_script(ROWS) == before
    ActionChains(ann.driver).release().perform()
    ann.says(".thread-head h1", "another group")
    ann.browser.wait("the other one to be first", lambda: ann.driver.execute_script(ROWS)[0] == group)


def test_keys_and_the_context_menu_of_the_list(chatters, apis, group):
    ann, _ = chatters
    notes = apis[0].create("self")
    apis[0].say(notes, "a note")
    ann.go("chats")
    ann.browser.wait("the notes to be first", lambda: ann.driver.execute_script(ROWS)[0] == notes)
    rows = ann.driver.execute_script(ROWS)

    def focuses(index):
        script = "return document.activeElement.closest('.chat-row')?.dataset.conversation"
        assert ann.driver.execute_script(script) == rows[index]

    ann.driver.execute_script("document.querySelector('#inbox .who').focus()")
    for key, index in [(Keys.ARROW_DOWN, 1), (Keys.ARROW_UP, 0), (Keys.ARROW_UP, 0), (Keys.END, -1), (Keys.HOME, 0)]:
        ann.press(key)
        focuses(index)
    ActionChains(ann.driver).context_click(ann.find(f"#row-{group} .preview")).perform()
    ann.click("#row-menu [data-action=pin]")
    ann.browser.wait("it to be pinned", lambda: ann.driver.execute_script(ROWS)[0] == group)
    ann.press(Keys.ESCAPE)


def test_rows_are_swiped(chatters, apis, group):
    """Towards the start they go to the archive, towards the end they are read; up and down scrolls."""
    ann, _ = chatters
    apis[1].say(group, "unread")
    ann.go("chats")
    ann.find(f"#row-{group} [data-count=unread]")
    touch = {"enabled": True, "maxTouchPoints": 1}
    ann.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", touch)

    def point(kind, *points):
        at = [{"x": x, "y": y} for x, y in points]
        ann.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})

    def swipe(dx, dy=0):
        x, y = ann.driver.execute_script(MIDDLE, f"#row-{group} .preview")
        point("touchStart", (x, y))
        for step in range(1, 9):
            point("touchMove", (x + dx * step / 8, y + dy * step / 8))
        point("touchEnd")

    try:
        # Not far enough, and the wrong way: nothing is opened either.
        swipe(40)
        swipe(20, 60)
        ann.find(f"#row-{group} [data-count=unread]")
        assert ann.driver.execute_script("return location.hash") == "#/chats"
        swipe(100)
        ann.gone(f"#row-{group} [data-count=unread]")
        swipe(-100)
        ann.gone(f"#row-{group}")
        ann.click("[data-action=undo]")
        ann.find(f"#row-{group}")
        assert ann.driver.execute_script("return location.hash") == "#/chats"
    finally:
        ann.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def test_unread_on_the_icon(chatters, apis, group):
    ann, _ = chatters
    ann.go("settings")
    icon = "return document.querySelector('link[rel=icon]').href"
    apis[1].say(group, "news")
    ann.browser.wait("a dot", lambda: ann.driver.execute_script(icon).endswith("/icons/unread.svg"))
    assert ann.driver.execute_async_script(TYPE_OF_ICON) == "image/svg+xml"
    for one in apis[0].ask("GET", "/v1/inbox")["conversations"]:
        if one["unread"]:
            apis[0].ask("POST", f"/v1/conversations/{one['id']}/marks", {"read": one["lastMessage"]["number"]})
    ann.browser.wait("no dot", lambda: ann.driver.execute_script(icon).endswith("/favicon.svg"))
    assert not ann.driver.title.startswith("(")


def test_back_closes_what_is_on_top(chatters, apis, group):
    ann, _ = chatters
    ann.go("history")
    open_chat(ann, group)
    where = ann.driver.current_url
    ann.click("[data-action=members]")
    ann.click("#members [data-action=rename]")
    ann.find("#ask")
    ann.driver.back()
    ann.gone("#ask")
    assert ann.driver.current_url == where
    # One over the other: the upper one first.
    ann.click("[data-action=members]")
    ann.click("#members [data-action=make-link]")
    ann.find("#new-link")
    ann.driver.back()
    ann.gone("#new-link")
    ann.find("#members")
    ann.driver.back()
    ann.gone("#members")
    assert ann.driver.current_url == where
    # Pickers as well.
    number = apis[0].say(group, "hello")
    for picker, opens in {
        "#emoji-picker": lambda: ann.click("#composer [data-action=emoji]"),
        "#conversation-picker": lambda: menu(ann, number, "forward"),
        "#switcher": lambda: ann.press(Keys.CONTROL + "k"),
    }.items():
        opens()
        ann.find(picker)
        ann.driver.back()
        ann.gone(picker)
        assert ann.driver.current_url == where
    # What was closed in another way is no step of its own.
    ann.click("[data-action=members]")
    ann.press(Keys.ESCAPE)
    ann.gone("#members")
    ann.click("[data-action=members]")
    ann.press(Keys.ESCAPE)
    ann.gone("#members")
    ann.driver.back()
    ann.find("main[data-page=history]")
    # Nor is what was open when one went elsewhere.
    open_chat(ann, group)
    ann.click("[data-action=members]")
    ann.find("#members")
    ann.driver.execute_script("location.hash = '#/settings'")
    ann.find("main[data-page=settings]")
    ann.driver.back()
    ann.find("#write")
    assert not ann.all("dialog[open]")
    skipped = "return location.hash.startsWith('#/c/') && !history.state?.dialog"
    ann.browser.wait("the entry to be skipped", lambda: ann.driver.execute_script(skipped))
    ann.driver.back()
    ann.find("main[data-page=history]")
