"""What happens to messages while somebody reads them, and texts and names that were made to break a page."""

from switchboard_tests.browsers.chats import open_chat, texts

# The topmost message on the screen, and where it is, in pixels from the top of the list.
TOPMOST = """
const { top } = document.querySelector(".scroller").getBoundingClientRect();
const node = [...document.querySelectorAll("#messages > *")]
    .find((one) => one.getBoundingClientRect().bottom > top + 1);
return [node.id, Math.round(node.getBoundingClientRect().top - top)];
"""
# Holds the pages of messages back that come from now on.
HOLD = """
const { realtime } = globalThis.switchboard;
const { request } = realtime;
globalThis.held = [];
realtime.request = async (name, params) => {
    const result = await request.call(realtime, name, params);
    if (name === "messages.list") await new Promise((resolve) => { held.push(resolve); });
    return result;
};
document.querySelector(".scroller").scrollTop = 0;
"""
RELEASE = "delete globalThis.switchboard.realtime.request; for (const one of held) one();"
RECEIVED = "return globalThis.switchboard.realtime.position(`conversation:${arguments[0]}`)[1]"
NAME = "<b>Ben</b> & <script>document.title = 'no'</script>"
# The least and the greatest that a message takes, and what is written above and below its line, or from the other side.
ODD = {
    "64 KiB": "x" * 65_536, "zero width": "a\u200bb\u2060c\ufeffd", "stacked": "Z" + "\u0301\u0336" * 32,
    "both ways": "abc שלום 123 مرحبا",
    "overridden": "\u202elive",
    "markup": "<img src=x onerror=\"document.title='no'\"> &lt;b&gt; ]]> --> {{1}}", "one word": "w" * 400,
}
# Writes and sends. By keys so long a text takes minutes.
SEND = """
const field = document.getElementById("write");
field.value = arguments[0];
field.dispatchEvent(new InputEvent("input", { bubbles: true }));
field.form.requestSubmit();
"""
# What is wider than the window.
OUTSIDE = """
const { scrollWidth } = document.documentElement;
const wide = [...document.querySelectorAll("#messages .bubble, #inbox .row")]
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1);
return [scrollWidth > innerWidth, wide.length];
"""


def test_what_is_read_is_edited_deleted_expires_and_is_read_on_after_removal(chatters, apis):
    """Ann reads in the middle: what she reads stays where it is, and so does the focus."""
    ann, _ = chatters
    own, other = apis
    group = other.create("group", [own], name="Garden")
    path = f"/v1/conversations/{group}"
    other.say(group, *[f"line {number}" for number in range(30)])
    other.ask("PATCH", path, {"disappearAfter": 10})
    number = other.say(group, "soon gone")
    other.ask("PATCH", path, {"disappearAfter": None})
    last = other.say(group, *[f"later {number}" for number in range(30)])
    open_chat(ann, group, number)
    # It has the focus, and is not at the end.
    focused = "return document.activeElement.id"
    ann.browser.wait("the focus", lambda: ann.driver.execute_script(focused) == f"message-{number}")
    topmost, where = ann.driver.execute_script(TOPMOST)
    # Above the screen; drawn after each of them.
    version = other.ask("GET", f"{path}/messages/{number - 20}")["message"]["textVersion"]
    other.ask("PATCH", f"{path}/messages/{number - 20}", {"text": "long\n" * 12, "textVersion": version})
    ann.says(f"#message-{number - 20} .text", "long")
    other.ask("DELETE", f"{path}/messages/{number - 18}?for=all")
    ann.says(f"#message-{number - 18} .text", "Message deleted")
    ann.find(f"#message-{number}[data-deleted]", 40)
    other.ask("DELETE", f"{path}/messages/{last}?for=all")
    now, there = ann.driver.execute_script(TOPMOST)
    assert now == topmost and abs(there - where) <= 2
    assert ann.driver.execute_script(focused) == f"message-{number}"
    assert "soon gone" not in ann.driver.execute_script("return document.body.textContent")
    # She is removed: what she has read stays, and nothing more can be written.
    ann.find("#write").send_keys("half a thought")
    other.ask("DELETE", f"{path}/members/{own.user}")
    ann.says(".thread-notice", "You are not in this conversation any more.")
    ann.gone("#composer")
    ann.says(f"#message-{number - 20} .text", "long")
    other.say(group, "not for her")
    ann.says(f"#row-{group}", "You are not in this group any more")
    assert "not for her" not in texts(ann)
    # She returns, by another device.
    other.ask("POST", f"{path}/members", {"members": [own.user]})
    own.ask("POST", f"{path}/members/me/accept")
    ann.find("#composer")
    other.say(group, "welcome back")
    ann.browser.wait("the welcome", lambda: "welcome back" in texts(ann))
    assert "not for her" not in texts(ann)


def test_a_change_overtakes_the_page_that_it_concerns(chatters, apis):
    ann, _ = chatters
    own, other = apis
    group = own.create("group", [other], name="Overtaken")
    last = own.say(group, *[f"line {number}" for number in range(110)])
    open_chat(ann, group)
    ann.says(f"#message-{last} .text", "line 109")
    ann.driver.execute_script(HOLD)
    ann.browser.wait("a page", lambda: ann.driver.execute_script("return held.length") > 0)
    before = ann.driver.execute_script(RECEIVED, group)
    path = f"/v1/conversations/{group}/messages/{last - 60}"
    own.ask("PATCH", path, {"text": "as it is now", "textVersion": own.ask("GET", path)["message"]["textVersion"]})
    ann.browser.wait("the change", lambda: ann.driver.execute_script(RECEIVED, group) > before)
    ann.driver.execute_script(RELEASE)
    open_chat(ann, group, last - 60)
    ann.says(f"#message-{last - 60} .text", "as it is now")


def test_odd_texts_and_names(chatters, apis):
    ann, ben = chatters
    own, other = apis
    other.ask("PATCH", "/v1/me", {"displayName": NAME})
    group = other.create("group", [own], name=NAME)
    for text in ODD.values():
        other.say(group, text)
    for person in (ann, ben):
        open_chat(person, group)
        got = "return [...document.querySelectorAll('#messages .text')].map((one) => one.textContent)"
        person.browser.wait("the texts", lambda: len(person.driver.execute_script(got)) == len(ODD))
        shown = dict(zip(ODD, person.driver.execute_script(got)))
        # What cannot be seen is shown by its code.
        want = {**ODD, "zero width": "aU+200BbU+2060cU+FEFFd", "overridden": "U+202Elive"}
        assert [name for name, text in want.items() if shown[name] != text] == []
        assert person.driver.execute_script(OUTSIDE) == [False, 0]
        assert person.text(".thread-head h1") == NAME
        assert person.driver.title != "no" and not person.all("#messages b, #inbox b, .thread-head b")
    ann.says("#messages .author", "<b>Ben</b>")
    # One byte more is too much, and nothing that can be seen is too little.
    ann.driver.execute_script(SEND, "x" * 65_537)
    ann.says(".toast.error", "A message has at most 65,536 bytes.")
    ann.driver.execute_script(SEND, " \n ")
    ann.driver.execute_script(SEND, "y" * 65_536)
    last = "return [...document.querySelectorAll('#messages > :not([data-outgoing]) .text')].at(-1).textContent"
    ann.browser.wait("it", lambda: ann.driver.execute_script(last) == "y" * 65_536)
    assert len(ann.driver.execute_script(got)) == len(ODD) + 1
