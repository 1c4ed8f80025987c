"""Choosing emoji: the picker for reactions and for the field, names that are completed, and what of it is kept."""

from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.chats import API, menu, open_chat
from switchboard_tests.browsers.offline import is_saved
from switchboard_tests.browsers.pages import Person

# The files of emoji that the page has asked for.
LOADED = """
return performance.getEntriesByType("resource").map((one) => one.name).filter((name) => name.includes("/emoji/"));
"""
# The emoji that has the focus, its group, and how many are in the page.
FOCUS = """
const focused = document.activeElement;
return [focused.textContent, focused.closest("section")?.dataset.group ?? focused.id,
    document.querySelectorAll("#emoji-grid .emoji").length];
"""
# Nothing is kept by the worker any more.
FORGET = """
const [done] = arguments;
caches.keys().then((names) => Promise.all(names.map((one) => caches.delete(one)))).then(() => done());
"""
RECENT = "return [...document.querySelectorAll('#emoji-grid [data-group=recent] .emoji')].map((one) => one.textContent)"


def open_picker(person):
    person.click("#composer [data-action=emoji]")
    person.find("#emoji-grid .emoji")


def test_reacting_with_any_emoji(chatters, apis, group):
    ann, ben = chatters
    number = apis[0].say(group, "how was it?")
    open_chat(ann, group)
    open_chat(ben, group)
    ben.find(f"#message-{number}")
    assert ben.driver.execute_script(LOADED) == []
    menu(ben, number, "other-emoji")
    ben.find("#emoji-grid .emoji")
    assert len(ben.driver.execute_script(LOADED)) == 1
    ben.press("snowman")
    ben.says("#emoji-picker [role=status]", "emoji")
    ben.press(Keys.ENTER)
    ben.gone("#emoji-picker")
    ann.find(f"#message-{number} .reaction[data-emoji='☃️']")
    # The bar of reactions leads to it, too: what was used last comes first, and another time takes it back.
    ben.click(f"#message-{number} [data-action=react-other]")
    ben.find("#emoji-grid .emoji")
    assert ben.driver.execute_script(RECENT) == ["☃️"]
    ben.press(Keys.ARROW_DOWN)
    ben.press(Keys.ENTER)
    ann.gone(f"#message-{number} .reaction[data-emoji='☃️']")
    assert len(ben.driver.execute_script(LOADED)) == 1


def test_the_keyboard_leads_through_all_groups(chatters, group):
    ann, _ = chatters
    open_chat(ann, group)
    open_picker(ann)

    def focus():
        return ann.driver.execute_script(FOCUS)

    assert focus()[1] == "emoji-search"
    ann.press(Keys.ARROW_DOWN)
    first, at, count = focus()
    # Groups that are far away are not in the page.
    assert (first, at) == ("😀", "smileys") and 0 < count < 900
    ann.press(Keys.ARROW_RIGHT)
    assert focus()[0] == "😃"
    ann.press(Keys.END)
    last = focus()[0]
    ann.press(Keys.ARROW_RIGHT)
    below = focus()[0]
    ann.press(Keys.ARROW_LEFT)
    assert focus()[0] == last
    ann.press(Keys.HOME)
    ann.press(Keys.ARROW_DOWN)
    assert focus()[0] == below
    ann.press(Keys.PAGE_DOWN)
    assert focus()[:2] == ["👋", "people"]
    ann.press(Keys.CONTROL + Keys.END)
    assert focus()[:2] == ["🏴󠁧󠁢󠁷󠁬󠁳󠁿", "flags"]
    ann.press(Keys.CONTROL + Keys.HOME)
    ann.press(Keys.ARROW_UP)
    assert focus()[1] == "emoji-search"
    # Letters go on with the search.
    ann.press(Keys.ARROW_DOWN)
    ann.press("qqq")
    ann.says("#emoji-picker [role=status]", "No emoji is called “qqq”")
    # The field is emptied first.
    ann.press(Keys.ESCAPE)
    ann.says("#emoji-picker", "😀")
    ann.press(Keys.ESCAPE)
    ann.gone("#emoji-picker")


def test_emoji_come_where_the_caret_is_and_are_kept(chatters, group):
    ann, _ = chatters
    open_chat(ann, group)
    ann.find("#write").send_keys("ab", Keys.ARROW_LEFT)
    open_picker(ann)
    ann.click("[data-action=tones]")
    ann.click("#emoji-picker [data-tone='4']")
    ann.find("#emoji-search").send_keys("waving hand")
    ann.click("#emoji-grid .emoji")
    ann.browser.wait("the hand", lambda: ann.draft() == "a👋🏾b")
    assert ann.driver.execute_script("return document.activeElement.id") == "write"
    ann.driver.refresh()
    open_chat(ann, group)
    open_picker(ann)
    ann.browser.wait("the hand", lambda: ann.driver.execute_script(RECENT)[:1] == ["👋🏾"])
    assert ann.text("[data-action=tones]") == "✋🏾"
    ann.press(Keys.ESCAPE)


def test_names_are_completed(chatters, group):
    ann, _ = chatters
    open_chat(ann, group)
    field = ann.find("#write")
    field.send_keys("so :rocke")
    ann.says(".completions [aria-selected=true]", "rocket")
    ann.press(Keys.ENTER)
    assert ann.draft() == "so 🚀"
    # A whole name needs no choice; in code everything stays as it is typed.
    field.send_keys(" :tada: `:tada: :hea")
    assert ann.draft() == "so 🚀 🎉 `:tada: :hea" and not ann.all(".completions:not([hidden])")
    field.send_keys("` :hea")
    ann.says(".completions [aria-selected=true]", "heart")
    ann.press(Keys.ESCAPE)
    ann.gone(".completions")
    ann.press(Keys.ENTER)
    ann.says("#messages .text", "so 🚀 🎉")
    # While an input method composes a word, nothing is an emoji.
    field.send_keys(":rocke")
    ann.find(".completions [role=option]")
    script = "arguments[0].dispatchEvent(new InputEvent('input', { data: 'k', isComposing: true, bubbles: true }))"
    ann.driver.execute_script(script, field)
    ann.gone(".completions")
    field.clear()


def test_without_the_file_it_says_so_and_tries_again(chatters, group):
    ann, _ = chatters
    open_chat(ann, group)
    ann.driver.refresh()
    open_chat(ann, group)
    blocked = {"urls": ["*/emoji/*"]}
    ann.driver.execute_cdp_cmd("Network.enable", {})
    ann.driver.execute_async_script(FORGET)
    ann.driver.execute_cdp_cmd("Network.setBypassServiceWorker", {"bypass": True})
    ann.driver.execute_cdp_cmd("Network.setBlockedURLs", blocked)
    ann.click("#composer [data-action=emoji]")
    ann.says("#emoji-picker [role=status]", "could not be loaded")
    ann.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
    ann.click("[data-action=retry-emoji]")
    ann.find("#emoji-grid .emoji")
    ann.gone("[data-action=retry-emoji]")
    ann.press(Keys.ESCAPE)
    ann.driver.execute_cdp_cmd("Network.setBypassServiceWorker", {"bypass": False})


def test_it_opens_without_the_server_if_it_was_loaded(pair, proxy):
    ann, _, conversation = pair
    open_picker(ann)
    ann.press(Keys.ESCAPE)
    is_saved(ann, conversation)
    proxy.cut()
    ann.driver.refresh()
    open_chat(ann, conversation)
    open_picker(ann)
    ann.press("tada")
    ann.press(Keys.ENTER)
    ann.browser.wait("the emoji", lambda: ann.draft() == "🎉")


def test_who_signs_in_next_does_not_see_what_was_used(ann, url):
    open_chat(ann, API(ann).create("self"))
    ann.find("#write").send_keys(":tada:")
    ann.browser.wait("the emoji", lambda: ann.draft() == "🎉")
    ann.go("settings")
    ann.click("[data-action=sign-out]")
    ann.find("#sign-in-form")
    other = Person(ann.browser, url, "Cem Can").sign_up()
    open_chat(other, API(other).create("self"))
    open_picker(other)
    assert other.driver.execute_script(RECENT) == []
