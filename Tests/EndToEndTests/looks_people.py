"""Screens of signing in, people and settings: each function brings Ann's page into a state, and yields its name."""

from stage import next_week
from switchboard_tests.browsers.chats import open_chat, write
from switchboard_tests.browsers.offline import OPEN_MENU

EDGES = """
const [banner, head, foot] = ["#offline", ".thread-head", "#composer"]
    .map((one) => document.querySelector(one).getBoundingClientRect());
return [banner.bottom, head.top, foot.bottom, innerHeight];
"""


def welcome(stage):
    ann = stage.ann
    ann.browser.open(ann.url)
    ann.driver.get(f"{ann.url}/?language={stage.language}")
    ann.find("#sign-in-form")
    yield "sign-in"
    ann.click("#to-sign-up")
    yield "sign-up"
    ann.click("#sign-up-form [type=submit]")
    ann.find("[aria-invalid]")
    yield "sign-up-error"


def empty(stage):
    stage.sign_up()
    ann = stage.ann
    ann.go("chats")
    ann.find(".empty [data-action=start-chat]")
    yield "chats-empty"
    ann.go("people")
    ann.find(".empty")
    yield "people-empty"
    ann.go("history")
    ann.find(".empty")
    yield "history-empty"
    ann.go("starred")
    ann.find(".empty")
    yield "starred-empty"


def people(stage):
    stage.write()
    ann = stage.ann
    ann.go("people")
    ann.find(".friend-requests .row")
    ann.find(".friends .row")
    yield "people"
    ann.click(".friend-requests .who")
    ann.find("#person")
    yield "person"
    ann.click("#person [data-action=report]")
    ann.find("#report")
    yield "report"
    stage.escape()
    ann.click(".friends .who")
    ann.click("#person [data-action=block]")
    ann.find("#ask")
    yield "block"
    stage.escape()
    ann.find("#search").send_keys("999")
    ann.find(".empty")
    yield "people-nobody"


def group_call(stage):
    ann = stage.ann
    ann.go("people")
    ann.click("[data-action=group-call]")
    ann.click("#picks .pick input")
    ann.find("#picker .chip")
    yield "new-group-call"


def links(stage):
    ann = stage.ann
    ann.go("people")
    ann.click("[data-action=make-contact-link]")
    ann.find("#link-address")
    yield "contact-link"
    stage.escape()
    made = stage.other.ask("POST", "/v1/me/link")
    ann.driver.execute_script("location.hash = arguments[0]", f"#/l/{made['token']}")
    ann.find(".link-card [data-action=write]")
    yield "link-of-a-person"
    made = stage.one.ask("POST", f"/v1/conversations/{stage.group}/links", {"expiresAt": next_week()})
    ann.driver.execute_script("location.hash = arguments[0]", f"#/l/{made['token']}")
    ann.find(".link-card [data-action=join-group]")
    yield "link-into-a-group"
    ann.driver.execute_script("location.hash = '#/l/nothing'")
    ann.find(".link-card a")
    yield "link-broken"


def settings(stage):
    ann = stage.ann
    ann.go("settings")
    ann.find("#devices .row")
    ann.find("#blocked .row")
    # Each of its sections is in the picture.
    for number, section in enumerate(ann.all(".settings > section")):
        ann.driver.execute_script("arguments[0].scrollIntoView()", section)
        if number % 3 == 0:
            yield f"settings-{number}"
    ann.click("[data-action=delete-account]")
    ann.find("#deletion")
    yield "delete-account"


def help_for_keys(stage):
    stage.ann.press("?")
    stage.ann.find("#shortcuts")
    yield "shortcuts"


def diagnostics(stage):
    stage.ann.go("diagnostics")
    stage.ann.find("#verdict[aria-busy=false]", 60)
    yield "diagnostics"


def notification_hint(stage):
    # It waits for a first message.
    stage.write()
    ann = stage.ann
    ann.driver.execute_cdp_cmd("Browser.setPermission", {
        "origin": ann.url, "permission": {"name": "notifications"}, "setting": "prompt"})  # fmt: skip
    ann.driver.refresh()
    ann.is_online()
    ann.go("chats")
    ann.find(".notification-hint")
    yield "notification-hint"
    ann.click(".notification-hint [data-action=no-notifications]")
    ann.driver.execute_cdp_cmd("Browser.resetPermissions", {})


def notification_settings(stage):
    """Before the browser has asked, refused, and allowed: this browser has no push service."""
    ann = stage.ann
    shown = {"prompt": "button", "denied": ".hint", "granted": "#push-state[data-state=noService]"}
    for setting, selector in shown.items():
        permission = {"origin": ann.url, "permission": {"name": "notifications"}, "setting": setting}
        ann.driver.execute_cdp_cmd("Browser.setPermission", permission)
        ann.go("settings")
        ann.driver.refresh()
        ann.is_online()
        ann.find(f"#notification-settings {selector}")
        ann.driver.execute_script("document.querySelector('#section-notifications').closest('section').scrollIntoView()")
        yield f"notification-settings-{setting}"
    ann.click("#setting-quietHours")
    ann.find("#field-quiet-from")
    yield "notification-settings-quiet-hours"
    ann.click("#setting-quietHours")
    ann.gone("#field-quiet-from")
    ann.driver.execute_cdp_cmd("Browser.resetPermissions", {})


def offline(stage):
    """Ann's page reaches the server through a proxy, unless the server is somebody else's."""
    if not stage.proxy:
        return
    ann = stage.ann
    open_chat(ann, stage.direct)
    ann.find("#message-3")
    stage.proxy.cut()
    try:
        ann.find("#offline", 40)
        write(ann, stage.words["hello"])
        ann.find("#messages [data-outgoing=waiting]")
        banner, head, foot, height = ann.driver.execute_script(EDGES)
        assert banner <= head and foot <= height, "the banner is over the thread, or moves it out of the window"
        yield "offline-thread"
        ann.driver.execute_script(OPEN_MENU, stage.words["hello"])
        ann.find("#message-menu [data-action=edit]")
        yield "waiting-menu"
        stage.escape()
        ann.go("chats")
        yield "offline"
    finally:
        stage.proxy.restore()
    ann.is_online(40)


SCREENS = [welcome, empty, people, group_call, links, settings, help_for_keys, diagnostics, offline]
