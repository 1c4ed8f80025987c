"""Screens of conversations: each function brings Ann's page into a state, and yields its name."""

from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.chats import menu, open_chat, row, row_menu


def chats(stage):
    ann = stage.ann
    ann.go("chats")
    row(ann, stage.words["team"])
    ann.find("#inbox [data-action=accept]")
    yield "chats"
    ann.click("[data-filter=unread]")
    yield "chats-unread"
    ann.click("[data-filter=all]")
    row_menu(ann, stage.group, "mute")
    ann.find("#mute")
    yield "mute"


def row_menus(stage):
    ann = stage.ann
    ann.go("chats")
    row(ann, stage.words["team"])
    button = f"#row-{stage.group} [data-action=row-menu]"
    ann.driver.execute_script("document.querySelector(arguments[0]).click()", button)
    ann.find("#row-menu")
    yield "row-menu"
    ann.click("#row-menu [data-action=leave]")
    ann.find("#ask")
    yield "leave"


def search(stage):
    ann = stage.ann
    ann.go("chats")
    word = stage.words["texts"][3].split()[0][-6:].strip(",.")
    ann.find("#chat-search").send_keys(word)
    ann.find("#search-results [data-found=message] mark")
    yield "search"
    ann.find("#chat-search").send_keys("999")
    ann.browser.wait("nothing", lambda: ann.text("#search-results") and not ann.all("#search-results .row"))
    yield "search-nothing"


def thread_search(stage):
    ann = stage.ann
    open_chat(ann, stage.group, stage.root)
    ann.click("[data-action=members]")
    ann.click("#members [data-action=search-here]")
    ann.find("#thread-search-words").send_keys(stage.words["texts"][9][:4])
    ann.find("#thread-search [data-found=message] mark")
    yield "thread-search"
    ann.click("#thread-search [data-action=more-filters]")
    ann.browser.wait("the members", lambda: len(ann.all("#thread-search [data-only=author] option")) > 3)
    yield "thread-search-filters"
    ann.click("#thread-search [data-action=more-filters]")
    ann.click("#thread-search [data-only=starred]")
    ann.find("#thread-search-words").send_keys("999")
    ann.browser.wait("nothing", lambda: ann.text("#thread-search [role=status]") and not ann.all("#thread-search .row"))
    yield "thread-search-nothing"


def archive(stage):
    ann = stage.ann
    stage.one.ask("PATCH", f"/v1/conversations/{stage.notes}/members/me", {"archived": True})
    ann.driver.execute_script("location.hash = '#/archive'")
    ann.find(f"#row-{stage.notes}")
    yield "archive"
    stage.one.ask("PATCH", f"/v1/conversations/{stage.notes}/members/me", {"archived": False})
    ann.gone(f"#row-{stage.notes}")
    yield "archive-empty"


def starred(stage):
    stage.ann.go("starred")
    stage.ann.find("#starred .row:nth-child(2)")
    yield "starred"


def switcher(stage):
    stage.ann.press(Keys.CONTROL + "k")
    stage.ann.find("#switcher .row")
    yield "switcher"


def group(stage):
    """It opens where Ann has not read on, and is left as unread as before."""
    ann = stage.ann
    open_chat(ann, stage.group)
    ann.find(f"#message-{stage.unread}")
    ann.browser.wait("the record of the sound", lambda: ann.all("#messages .voice"))
    yield "thread-unread"
    open_chat(ann, stage.group, stage.root)
    ann.find(f"#message-{stage.root}")
    yield "thread-start"
    open_chat(ann, stage.group, stage.code)
    ann.find(f"#message-{stage.code}")
    yield "thread-code"


def message_menus(stage):
    ann = stage.ann
    open_chat(ann, stage.group, stage.root)
    ann.click(f"#message-{stage.root} [data-action=message-menu]")
    ann.find("#message-menu")
    yield "message-menu"
    ann.click("#message-menu [data-action=reactions]")
    ann.find("#message-reactions")
    yield "reactions"
    stage.escape()
    menu(ann, stage.edited, "history")
    ann.find("#message-history")
    yield "edits"
    stage.escape()
    menu(ann, stage.mine, "info")
    ann.find("#message-info")
    yield "message-info"
    stage.escape()
    menu(ann, stage.mine, "language")
    ann.find("#language-list button")
    yield "message-language"
    stage.escape()
    menu(ann, stage.edited, "forward")
    ann.click("#conversation-picker .pick input")
    yield "forward"
    stage.escape()
    menu(ann, stage.edited, "delete-all")
    ann.find("#ask")
    yield "delete"


def selecting(stage):
    ann = stage.ann
    open_chat(ann, stage.group, stage.mine)
    menu(ann, stage.mine, "select")
    ann.driver.execute_script("document.querySelector('#message-' + arguments[0]).click()", stage.code)
    ann.says(".selection-count", "2" if stage.direction == "ltr" else "")
    yield "selecting"
    ann.click("[data-action=delete-selected]")
    ann.find("#ask [data-choice=me]")
    yield "delete-selected"
    stage.escape()
    stage.escape()
    ann.gone(".selection-bar")


def emoji(stage):
    ann = stage.ann
    open_chat(ann, stage.group, stage.root)
    ann.click(f"#message-{stage.root} [data-action=react-other]")
    ann.find("#emoji-grid .emoji")
    ann.click("#emoji-picker [data-action=tones]")
    yield "emoji-of-a-message"
    stage.escape()
    ann.click("#composer [data-action=emoji]")
    ann.find("#emoji-grid .emoji")
    yield "emoji"
    ann.click("#emoji-picker .emoji-groups [data-group=travel]")
    ann.find("#emoji-grid [data-group=travel] .emoji")
    yield "emoji-travel"
    ann.find("#emoji-search").send_keys("heart")
    ann.find("#emoji-grid [data-group=found] .emoji")
    yield "emoji-found"
    ann.find("#emoji-search").send_keys(Keys.CONTROL, "a", Keys.NULL, "999")
    ann.gone("#emoji-grid .emoji")
    yield "emoji-nothing"
    ann.click("#emoji-picker [data-action=close]")
    ann.find("#write").send_keys(":+1")
    ann.find(".completions [role=option]")
    yield "emoji-completed"
    ann.find("#write").clear()
    ann.find("#write").send_keys("a", Keys.BACKSPACE)


def replies(stage):
    ann = stage.ann
    open_chat(ann, stage.group, stage.root)
    ann.click("[data-action=open-thread]")
    ann.find("#replies .reply")
    yield "replies"


def writing(stage):
    ann = stage.ann
    open_chat(ann, stage.group, stage.root)
    menu(ann, stage.root, "reply")
    ann.find("#composer .about .quote")
    yield "replying"
    ann.click("[data-action=cancel-target]")
    menu(ann, stage.edited, "edit")
    yield "editing"
    ann.find("#write").send_keys(Keys.ESCAPE)
    ann.find("#write").send_keys(stage.words["hello"], " @")
    ann.find(".completions [role=option]")
    yield "mentions"
    ann.find("#write").send_keys(Keys.BACKSPACE)
    ann.click("[data-action=send-later]")
    ann.find("#send-time")
    yield "send-later"
    ann.click("#send-time [data-later]")
    ann.find("[data-action=scheduled]")
    yield "scheduled-line"
    ann.click("[data-action=scheduled]")
    ann.find("#scheduled .row")
    yield "scheduled"


def pins(stage):
    ann = stage.ann
    open_chat(ann, stage.group)
    ann.click("[data-action=pins]")
    ann.find("#pins .row")
    yield "pins"


def recording(stage):
    ann = stage.ann
    open_chat(ann, stage.direct)
    ann.click("[data-action=record]")
    ann.find("#voice-composer[data-state=recording]")
    yield "recording"
    ann.click("[data-action=cancel-voice]")


def details(stage):
    ann = stage.ann
    open_chat(ann, stage.group)
    ann.click("[data-action=members]")
    ann.find("#members [data-link]")
    yield "group-details"
    ann.click("#members [data-action=go-to-date]")
    ann.find("#go-to-date input")
    yield "go-to-date"
    stage.escape()
    ann.click("[data-action=members]")
    ann.find("#members [data-link]")
    ann.driver.execute_script("document.getElementById('right-write').scrollIntoView({ block: 'center' })")
    yield "group-rights"
    ann.click(f"#members [data-user='{stage.cem.user}'] [data-action=member-menu]")
    ann.find("#member-menu")
    yield "member-menu"
    stage.escape()
    ann.click("#members [data-action=make-link]")
    ann.find("#new-link")
    yield "new-link"
    stage.escape()
    ann.click("#members [data-action=rename]")
    ann.find("#ask")
    yield "rename"
    stage.escape()
    pairs = list(zip(stage.words["texts"], stage.names))[:3]
    terms = [{"source": source, "target": target, "language": "es"} for source, target in pairs]
    stage.one.ask("PUT", f"/v1/conversations/{stage.group}/glossary", {"terms": terms})
    ann.click("[data-action=members]")
    ann.click("#members [data-action=glossary]")
    ann.find("#glossary .row")
    yield "glossary"
    ann.click("[data-action=add-term]")
    ann.click("#term [data-choice=save]")
    ann.find("#term [aria-invalid]")
    yield "term"


def other_threads(stage):
    ann = stage.ann
    open_chat(ann, stage.direct)
    ann.find("#message-3")
    yield "thread-of-two"
    ann.click("[data-action=members]")
    ann.find("#members #disappearing")
    yield "details-of-two"
    stage.escape()
    open_chat(ann, stage.request)
    ann.find(".thread-notice [data-action=accept]")
    yield "request"
    open_chat(ann, stage.notes)
    ann.find("#message-1")
    yield "notes"


def new_chat(stage):
    ann = stage.ann
    ann.go("chats")
    ann.click("[data-action=new-chat]")
    ann.find("#picker .pick")
    yield "new-chat"
    # Choosing one draws the list anew.
    for chosen in [found.get_attribute("id") for found in ann.all("#picks .pick input")[:2]]:
        ann.click(f"#{chosen}")
    ann.click("#picker [data-choice=start]")
    ann.find("#ask")
    yield "new-group"


SCREENS = [
    chats, row_menus, search, thread_search, archive, starred, switcher, group, message_menus, selecting, emoji,
    replies, writing, pins, recording, details, other_threads, new_chat,
]  # fmt: skip
