"""A thread: where it opens, what stays in its place while it grows, and what is done with messages. One pair of people
for the whole file; each test has a group of their own, which is made over REST."""

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select
from switchboard_tests.browsers.chats import menu, open_chat, reach, react, row, shows, texts, write

# Where a message is, in pixels from the top of the list, and how much is below the screen.
LOCATION = """
const scroller = document.querySelector(".scroller");
const node = document.getElementById(`message-${arguments[0]}`);
if (!node) return null;
return Math.round(node.getBoundingClientRect().top - scroller.getBoundingClientRect().top);
"""
BELOW = """
const scroller = document.querySelector(".scroller");
return Math.round(scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight);
"""
# Scrolls; which message is on the top of the screen then, which is the first in the page, and where the top one is.
SCROLL_TO = """
const scroller = document.querySelector(".scroller");
const { top } = scroller.getBoundingClientRect();
scroller.scrollTop = arguments[0];
const all = [...document.querySelectorAll("#messages > *")];
const node = all.find((one) => one.getBoundingClientRect().bottom > top + 1);
const found = [node, all[0]].map((one) => Number(one.dataset.number));
return [...found, Math.round(node.getBoundingClientRect().top - top)];
"""


# The numbers of the messages that a search in the thread has found.
FOUND = """
return [...document.querySelectorAll("#thread-search [data-found=message]")].map((one) => Number(one.dataset.number));
"""
NUMBERS = "return [...document.querySelectorAll('#messages [data-number]')].map((one) => Number(one.dataset.number))"


def numbers(person):
    """At one moment: while messages are put in, elements of another one would be gone."""
    return person.driver.execute_script(NUMBERS)


def has_read(person, api, group, number):
    """Waits until the server knows that the person has read up to the message."""
    path = f"/v1/conversations/{group}"
    person.browser.wait(f"{number} to be read", lambda: api.ask("GET", path)["membership"]["read"] >= number)


def focused(person):
    return person.driver.execute_script("return document.activeElement.id")


def test_it_opens_at_the_first_unread_message(chatters, apis, group):
    _, ben = chatters
    first = apis[0].say(group, "first")
    open_chat(ben, group)
    ben.find(f"#message-{first}")
    has_read(ben, apis[1], group, first)
    ben.go("chats")
    apis[0].say(group, *(f"message {number}" for number in range(200)))
    row(ben, "message 199")
    ben.says(f"#row-{group} [data-count=unread]", "200")
    assert ben.driver.title.startswith("(")

    # More than the snapshot has: the page around the first unread one is read, and the divider stands there.
    open_chat(ben, group)
    divider = ben.find(".unread-from")
    assert divider.find_element("xpath", "..").get_attribute("id") == f"message-{first + 1}"
    assert 0 < ben.driver.execute_script(LOCATION, first + 1) < 400
    assert not ben.all(f"#message-{first + 200}")
    # The button says how many are below, and leads there.
    ben.browser.wait("a count of new ones", lambda: ben.text(".newest .count") == "50+")
    ben.click("[data-action=to-newest]")
    ben.find(f"#message-{first + 200}")
    ben.browser.wait("the end", lambda: ben.driver.execute_script(BELOW) <= 1)
    ben.gone("[data-action=to-newest]")
    has_read(ben, apis[1], group, first + 200)


def test_nothing_jumps_while_what_is_above_loads_and_grows(chatters, apis, group):
    _, ben = chatters
    apis[0].say(group, *(f"message {number}" for number in range(300)))
    apis[1].ask("POST", f"/v1/conversations/{group}/marks", {"read": 301})
    open_chat(ben, group)
    ben.find("#message-301")
    ben.browser.wait("the end", lambda: ben.driver.execute_script(BELOW) <= 1)
    # Upwards to the first: at each step the message on the top stays where it is while others come above it.
    first = numbers(ben)[0]
    while first > 1:
        top, first, place = ben.driver.execute_script(SCROLL_TO, 300)
        ben.browser.wait("earlier ones", lambda: numbers(ben)[0] < first or first == 1)
        assert abs(ben.driver.execute_script(LOCATION, top) - place) <= 1, f"message {top} has moved"
        assert len(numbers(ben)) <= 120
    # One above the screen grows: what is on the screen stays.
    top, _, place = ben.driver.execute_script(SCROLL_TO, 900)
    above = top - 2
    path = f"/v1/conversations/{group}/messages/{above}"
    version = apis[0].ask("GET", path)["message"]["textVersion"]
    apis[0].ask("PATCH", path, {"text": "\n".join(["grown"] * 9), "textVersion": version})
    ben.says(f"#message-{above} .text", "grown")
    assert abs(ben.driver.execute_script(LOCATION, top) - place) <= 1
    # A new message does not pull the page down.
    newest = apis[0].say(group, "new below")
    ben.says(".newest .count", "1")
    assert abs(ben.driver.execute_script(LOCATION, top) - place) <= 1
    ben.click("[data-action=to-newest]")
    ben.find(f"#message-{newest}")


def test_a_button_leads_to_the_next_mention(chatters, apis, group):
    """Also to one that is not held: newer than what is at the screen, and older than the newest messages."""
    ann, _ = chatters
    own, other = apis
    other.say(group, *[f"first {number}" for number in range(60)])
    near = other.say(group, f"<@{own.user}> near")
    other.say(group, *[f"between {number}" for number in range(150)])
    far = other.say(group, "<@all> far")
    other.say(group, *[f"last {number}" for number in range(120)])
    open_chat(ann, group)
    # More than a page of a search: none is jumped over, neither those before it nor those that are held.
    many = [other.say(group, f"<@all> {number}") for number in range(25)]
    other.say(group, *[f"at the end {number}" for number in range(120)])
    for number in (near, far, many[0]):
        ann.click("[data-action=to-mention]")
        ann.browser.wait(f"message {number} to be shown", lambda: focused(ann) == f"message-{number}")
    ann.click("[data-action=to-newest]")
    ann.gone("[data-action=to-mention]")


def test_the_link_of_a_message_and_typing_anywhere(chatters, apis, group):
    ann, _ = chatters
    number = apis[1].say(group, "worth a link")
    open_chat(ann, group)
    ann.find(f"#message-{number}")
    allowed = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    ann.driver.execute_cdp_cmd("Browser.grantPermissions", allowed)
    menu(ann, number, "copy-link")
    ann.says("#toasts", "Copied.")
    link = "navigator.clipboard.readText().then(arguments[0])"
    assert ann.driver.execute_async_script(link) == f"{ann.url}/#/c/{group}/{number}"
    # Letters land in the field, the first one too. Those that mean something elsewhere do not.
    ann.driver.execute_script("document.activeElement.blur()")
    ActionChains(ann.driver).send_keys("héllo").perform()
    assert (ann.draft(), focused(ann)) == ("héllo", "write")
    # So do they after a press on a message of one's own, where a key would edit it, and on a button.
    own = apis[0].say(group, "of mine")
    for selector in (f"#message-{own} .text", f"#message-{number} [data-action=message-menu]"):
        ann.find("#write").clear()
        ann.click(selector)
        if ann.all("#message-menu"):
            ann.press(Keys.ESCAPE)
            ann.gone("#message-menu")
        ActionChains(ann.driver).send_keys("every").perform()
        assert (ann.draft(), focused(ann)) == ("every", "write")
        assert not ann.all("#composer .about > *")
    ann.find("#write").clear()
    ann.find("#write").send_keys(" ", Keys.BACKSPACE)
    ann.driver.execute_script("document.activeElement.blur()")
    ActionChains(ann.driver).send_keys("?").perform()
    ann.find("#shortcuts")
    ActionChains(ann.driver).send_keys("x").perform()
    ann.press(Keys.ESCAPE)
    ann.gone("#shortcuts")
    ann.find("#chat-search").send_keys("y")
    assert ann.draft() == ""
    ann.find("#chat-search").send_keys(Keys.BACKSPACE)


def test_only_new_messages_of_others_are_announced(chatters, apis, group):
    """To who listens to the page: not what one writes, nor what becomes of messages that were there."""
    ann, _ = chatters
    own, other = apis
    open_chat(ann, group)
    ann.find("#write")
    said = "return document.querySelector('#announcer > p:last-child')?.textContent"
    number = other.say(group, "can you hear me")
    announced = f"{other.name}: can you hear me"
    ann.browser.wait("the announcement", lambda: ann.driver.execute_script(said) == announced)
    path = f"/v1/conversations/{group}/messages/{number}"
    version = other.ask("GET", path)["message"]["textVersion"]
    other.ask("PATCH", path, {"text": "can you see me", "textVersion": version})
    ann.says(f"#message-{number} .text", "can you see me")
    own.ask("PUT", f"{path}/reactions/%F0%9F%91%8D")
    ann.find(f"#message-{number} .reaction")
    write(ann, "yes")
    shows(ann, "can you see me", "yes")
    assert ann.driver.execute_script(said) == announced


def test_a_reply_leads_to_its_origin_and_back(chatters, apis, group):
    _, ben = chatters
    origin = apis[0].say(group, "the origin")
    apis[0].say(group, *(f"between {number}" for number in range(120)))
    reply = apis[0].say(group, "the answer", replyTo=origin)
    apis[1].ask("POST", f"/v1/conversations/{group}/marks", {"read": reply})
    open_chat(ben, group)
    # It is not held: it is read, and the range around it is shown.
    ben.says(f"#message-{reply} .quote", "Earlier message")
    ben.click(f"#message-{reply} .quote")
    ben.find(f"#message-{origin}")
    assert 0 < ben.driver.execute_script(LOCATION, origin) < 600
    assert reply not in numbers(ben)
    assert focused(ben) == f"message-{origin}"
    # Downwards until both ranges meet.
    down = "document.querySelector('.scroller').scrollTop += 900;"
    ben.browser.wait("the newest", lambda: ben.driver.execute_script(down) or reply in numbers(ben))
    ben.says(f"#message-{reply} .quote", "the origin")
    # By its address too.
    open_chat(ben, group, origin)
    ben.browser.wait("the origin", lambda: ben.driver.execute_script(LOCATION, origin) is not None)


def test_groups_of_one_author_days_and_ticks(chatters, apis, group):
    ann, ben = chatters
    open_chat(ann, group)
    write(ann, "one")
    write(ann, "two")
    shows(ann, "one", "two")
    assert ann.all("#message-2.first:not(.last)") and ann.all("#message-3.last:not(.first)")
    assert ann.text(".day") == "Today"
    # The list of the other one says that they have arrived, and reading that they were read.
    ben.go("chats")
    row(ben, "two")
    ann.find("#message-3 [data-receipt=delivered]")
    open_chat(ben, group)
    ann.find("#message-3 [data-receipt=read]")
    menu(ann, 3, "info")
    ann.says("#message-info .row", "Ben Brook")
    ann.click("#message-info [data-action=close]")


def test_pinning_starring_and_reacting(chatters, apis, group):
    ann, ben = chatters
    first = apis[0].say(group, "pin me")
    apis[0].say(group, *(f"filler {number}" for number in range(70)))
    open_chat(ben, group)
    open_chat(ann, group, first)
    ann.find(f"#message-{first}")
    menu(ann, first, "pin")
    ann.says(".pins", "pin me")
    # The other one does not hold the message: it is read for the bar, which leads to it.
    ben.says(".pins", "pin me")
    ben.click("[data-action=show-pin]")
    ben.find(f"#message-{first}")
    menu(ben, first, "star")
    ben.find(f"#message-{first} .starred")
    react(ben, first, "🎉")
    ann.says(f"#message-{first} .reaction", "1")
    menu(ann, first, "reactions")
    ann.says("#message-reactions .row", "Ben Brook")
    ann.click("#message-reactions [data-action=close]")
    ben.click("[data-action=pins]")
    ben.click("#pins [data-action=unpin]")
    ann.gone(".pins")


def test_editing_by_arrow_and_former_texts(chatters, apis, group):
    ann, ben = chatters
    open_chat(ann, group)
    open_chat(ben, group)
    write(ann, "teh words")
    shows(ben, "teh words")
    field = ann.find("#write")
    field.send_keys(Keys.ARROW_UP)
    assert field.get_attribute("value") == "teh words"
    field.send_keys(Keys.HOME, *[Keys.DELETE] * 3, "the", Keys.ENTER)
    shows(ben, "the words")
    menu(ben, 3 if ben.all("#message-3 .text") else 2, "history")
    ben.says("#message-history li", "teh words")
    ben.click("#message-history [data-action=close]")
    # What an edit was about to become is there after the page was left, and after it was loaded anew.
    field.send_keys(Keys.ARROW_UP)
    field.send_keys(" and more")
    ann.go("people")
    open_chat(ann, group)
    ann.browser.wait("the edit", lambda: ann.draft() == "the words and more")
    ann.driver.refresh()
    ann.says("#composer .about", "Editing")
    ann.browser.wait("the edit", lambda: ann.draft() == "the words and more")
    ann.find("#write").send_keys(Keys.ENTER)
    shows(ben, "the words and more")
    ann.gone("#composer .about > *")
    assert ann.draft() == ""


def test_a_thread_of_replies(chatters, apis, group):
    ann, ben = chatters
    root = apis[0].say(group, "the root")
    open_chat(ben, group)
    ben.find(f"#message-{root}")
    menu(ben, root, "thread")
    ben.says("#replies .root", "the root")
    # What was written is there again, however the dialog was closed.
    ben.find("#write-thread").send_keys("in the thr")
    ben.press(Keys.ESCAPE)
    ben.gone("#replies")
    menu(ben, root, "thread")
    field = ben.find("#write-thread")
    ben.browser.wait("the reply", lambda: field.get_attribute("value") == "in the thr")
    field.send_keys("ead", Keys.ENTER)
    ben.says("#replies .replies", "in the thread")
    ben.click("#replies [data-action=close]")
    open_chat(ann, group)
    ann.says(f"#message-{root} [data-action=open-thread]", "1 reply")
    ann.click(f"#message-{root} [data-action=open-thread]")
    ann.says("#replies .replies", "in the thread")
    apis[1].say(group, "another", thread=root)
    ann.says("#replies .replies", "another")
    ann.click("#replies [data-action=show-root]")
    ann.browser.wait("the root", lambda: focused(ann) == f"message-{root}")


def test_forwarding(chatters, apis, group):
    ann, _ = chatters
    notes = apis[0].create("self")
    number = apis[1].say(group, "worth keeping")
    open_chat(ann, group)
    menu(ann, number, "forward")
    ann.find("#conversation-search").send_keys("note")
    ann.browser.wait("the notes alone", lambda: len(ann.all("#conversation-picks .row")) == 1)
    ann.click("#conversation-picks input")
    ann.click("#conversation-picker [data-choice=done]")
    open_chat(ann, notes)
    ann.says("#messages .forwarded", "Forwarded")
    shows(ann, "worth keeping")


def test_messages_disappear(chatters, apis, group):
    ann, _ = chatters
    open_chat(ann, group)
    ann.click("[data-action=members]")
    # It is drawn anew when the members have come.
    ann.browser.wait("a time", lambda: Select(ann.find("#disappearing")).select_by_visible_text("1 hour") or True)
    ann.says(".about-line", "disappear after 1 hour")
    ann.click("#members [data-action=close]")
    apis[0].ask("PATCH", f"/v1/conversations/{group}", {"disappearAfter": 10})
    number = apis[0].say(group, "soon gone")
    ann.says(f"#message-{number} .text", "soon gone")
    ann.browser.wait("it to be gone", lambda: ann.all(f"#message-{number}[data-deleted]"))
    assert "soon gone" not in texts(ann)


def test_sending_later(chatters, apis, group):
    ann, ben = chatters
    open_chat(ann, group)
    open_chat(ben, group)
    ann.find("#write").send_keys("good morning")
    ann.click("[data-action=send-later]")
    ann.click("#send-time [data-later]")
    ann.browser.wait("an empty field", lambda: ann.draft() == "")
    ann.says("[data-action=scheduled]", "1 message is sent later")
    ann.click("[data-action=scheduled]")
    ann.says("#scheduled .row", "good morning")
    ann.click("#scheduled [data-action=change-text]")
    ann.find("#field-lines").send_keys(", all")
    ann.click("#lines [data-choice=save]")
    ann.says("#scheduled .row", "good morning, all")
    ann.click("#scheduled [data-action=send-now]")
    ben.says("#messages .text", "good morning, all")
    ann.gone("[data-action=scheduled]")
    # A second one is deleted.
    ann.find("#write").send_keys("never")
    ann.click("[data-action=send-later]")
    ann.click("#send-time [data-later]")
    ann.click("[data-action=scheduled]")
    ann.click("#scheduled [data-action=delete-scheduled]")
    ann.click("#ask [data-choice=delete]")
    ann.gone("[data-action=scheduled]")
    assert "never" not in texts(ben)


def test_what_blocked_people_say_in_groups_is_folded(chatters, apis, group):
    ann, _ = chatters
    first = apis[1].say(group, "bad", "worse")
    ann.go("chats")
    apis[0].ask("PUT", f"/v1/blocks/{apis[1].user}")
    try:
        open_chat(ann, group)
        ann.says("#messages .folded", "2 messages of somebody you have blocked")
        assert texts(ann) == []
        ann.click("[data-action=unfold]")
        shows(ann, "bad", "worse")
    finally:
        apis[0].ask("DELETE", f"/v1/blocks/{apis[1].user}")
    ann.gone("#messages .folded")
    assert first


def test_the_keyboard_goes_from_message_to_message(chatters, apis, group):
    ann, _ = chatters
    last = apis[0].say(group, "one", "two", "three")
    open_chat(ann, group)
    ann.find(f"#message-{last}")
    ann.driver.execute_script("document.getElementById('messages').focus()")
    assert focused(ann) == f"message-{last}"
    ann.press(Keys.ARROW_UP)
    assert focused(ann) == f"message-{last - 1}"
    # The way back leads out.
    ann.press(Keys.SHIFT + Keys.TAB)
    assert focused(ann) == "messages"
    reach(ann, last - 1)
    ann.press("r")
    ann.says("#composer .about", "two")
    assert focused(ann) == "write"
    ann.press(Keys.ESCAPE)
    ann.gone("#composer .about")


def test_a_thread_is_searched(chatters, apis, group):
    """By a key and by its button, with words and with filters; what is found is gone to."""
    ann, (one, other) = chatters[0], apis
    first = other.say(group, "the needle")
    starred = other.say(group, "hay")
    mention = other.say(group, *[f"hay {number}" for number in range(80)], f"<@{one.user}> look")
    link = other.say(group, "https://example.org/needle")
    one.ask("PUT", f"/v1/conversations/{group}/messages/{starred}/star")
    one.say(one.create("self"), "a needle in the notes")
    open_chat(ann, group)
    ann.find(f"#message-{first}")

    def found(*numbers):
        ann.browser.wait(f"{numbers} to be found", lambda: ann.driver.execute_script(FOUND) == list(numbers))

    ann.press(Keys.CONTROL + "f")
    ann.find("#thread-search-words").send_keys("needle")
    found(link, first)
    assert ann.text(f"#thread-search [data-number='{first}'] mark") == "needle"
    ann.click("#thread-search [data-only=link]")
    found(link)
    ann.click("#thread-search [data-only=link]")
    found(link, first)
    ann.click(f"#thread-search [data-number='{link}'] a")
    ann.gone("#thread-search")
    ann.browser.wait("the message", lambda: (ann.driver.execute_script(LOCATION, link) or -1) > 0)
    ann.click("[data-action=search-thread]")
    ann.click("#thread-search [data-only=mentions]")
    found(mention)
    ann.click("#thread-search [data-only=mentions]")
    ann.click("#thread-search [data-only=starred]")
    found(starred)
    ann.find("#thread-search-words").send_keys("nowhere")
    ann.says("#thread-search", "Nothing found for “nowhere”.")
    ann.find("#thread-search-words").send_keys(Keys.ESCAPE, Keys.ESCAPE)
    ann.gone("#thread-search")


# Chooses in a field of the filters as a person does.
CHOOSE = """
const field = document.querySelector(`#thread-search [data-only=${arguments[0]}]`);
const day = new Date();
day.setDate(day.getDate() + arguments[1]);
const parts = [day.getFullYear(), day.getMonth() + 1, day.getDate()];
field.value = parts.map((one) => String(one).padStart(2, "0")).join("-");
field.dispatchEvent(new Event("change"));
"""


def test_what_somebody_wrote_on_some_days_and_further_pages_of_it(chatters, apis, group):
    ann, ben = chatters[0], apis[1]
    own = apis[0].say(group, "a **needle** of Ann")
    last = [ben.say(group, f"needle {number}") for number in range(45)][-1]
    open_chat(ann, group)
    ann.find(f"#message-{last}")
    ann.press(Keys.CONTROL + "f")
    ann.find("#thread-search-words").send_keys("needle")

    def found(count):
        ann.browser.wait(f"{count} to be found", lambda: len(ann.driver.execute_script(FOUND)) == count)

    found(20)
    for count in (40, 46):
        ann.click("#thread-search [data-action=more-found]")
        found(count)
    ann.gone("#thread-search [data-action=more-found]")
    numbers = ann.driver.execute_script(FOUND)
    assert numbers == sorted(set(numbers), reverse=True) and numbers[-1] == own
    script = "return [...document.querySelectorAll('#thread-search ' + arguments[0])].map((one) => one.textContent)"
    assert ann.driver.execute_script(script, "[data-found=message] .title") == ["Ben Brook"] * 45 + ["You"]
    assert ann.driver.execute_script(script, f"[data-number='{own}'] .found") == ["a needle of Ann"]
    # Where the button was is the first of what is new.
    focused = "return document.activeElement.closest('[data-number]')?.dataset.number"
    assert int(ann.driver.execute_script(focused)) == numbers[40]
    # By Ann alone; without words too. Days need words.
    ann.click("#thread-search [data-action=more-filters]")
    Select(ann.find("#thread-search [data-only=author]")).select_by_visible_text("You")
    found(1)
    Select(ann.find("#thread-search [data-only=author]")).select_by_visible_text("Ben Brook")
    ann.find("#thread-search-words").clear()
    found(20)
    ann.driver.execute_script(CHOOSE, "from", 1)
    ann.says("#thread-search [role=status]", "Nothing found.")
    ann.driver.execute_script(CHOOSE, "from", 0)
    found(20)
    Select(ann.find("#thread-search [data-only=author]")).select_by_visible_text("Anybody")
    ann.says("#thread-search [role=status]", "Type a word as well")
    ann.find("#thread-search-words").send_keys("needle of")
    found(1)
    ann.driver.execute_script(CHOOSE, "to", -1)
    ann.says("#thread-search [role=status]", "Nothing found")
