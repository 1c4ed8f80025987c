"""Screens of what fails: each function brings Ann's page into a state, and yields its name."""

import contextlib
import tempfile
import uuid

from switchboard_tests.browsers.builds import serve, write_build
from switchboard_tests.browsers.chats import API, open_chat, write
from switchboard_tests.browsers.offline import OPEN_MENU, REFUSED
from switchboard_tests.browsers.pages import Person
from switchboard_tests.browsers.server import Server


def failed(stage):
    """Only administrators may write there now."""
    ann, group = stage.ann, f"/v1/conversations/{stage.team}"
    open_chat(ann, stage.team)
    ann.find("#message-1")
    stage.cem.ask("PATCH", group, {"settings": {"write": "admins"}})
    write(ann, stage.words["reply"])
    ann.find("#messages [data-outgoing=failed]")
    yield "failed"
    ann.driver.execute_script(OPEN_MENU, stage.words["reply"])
    ann.find("#message-menu [data-action=retry]")
    yield "failed-menu"
    ann.click("#message-menu [data-action=discard]")
    ann.gone("#messages [data-outgoing]")
    stage.cem.ask("PATCH", group, {"settings": {"write": "members"}})


def nothing(stage):
    """A conversation that is not there, and one without messages."""
    stage.ann.driver.execute_script("location.hash = arguments[0]", f"#/c/{uuid.uuid4()}")
    stage.ann.find(".absent-thread .link")
    yield "thread-unknown"
    stage.ann.driver.execute_script("location.hash = '#/nowhere'")
    stage.ann.find("main[data-page=nothing] h1")
    yield "address-unknown"
    group = stage.one.create("group", [stage.other], name=stage.words["team"])
    last = stage.one.say(group, stage.words["note"])
    stage.one.ask("POST", f"/v1/conversations/{group}/clear?upTo={last}")
    open_chat(stage.ann, group)
    stage.ann.find(".feed > .nothing")
    yield "thread-empty"


def banners(stage):
    """All three: the browser stores nothing, the server was upgraded, and it does not respond."""
    if not stage.server:
        return
    browser = stage.ann.browser
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as left:
        server = Server(stage.server.binary, folder)
        left.callback(stage.ann.is_online)
        left.callback(browser.driver.get, stage.ann.url)
        left.callback(server.stop)
        serve(server, write_build(stage.server, server.directory / "other", "0123456789ab"))
        ann = Person(browser, server.url, stage.names[0]).sign_up()
        notes = API(ann).create("self")
        refused = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": REFUSED})
        left.callback(browser.driver.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", refused)
        stage.set_language(ann)
        serve(server, None)
        ann.find("#storage")
        ann.find("#update")
        ann.is_online()
        ann.go("chats")
        ann.find(f"#row-{notes}")
        yield "banners"
        server.stop()
        ann.find("#offline")
        # Nothing of it is on this device.
        ann.driver.execute_script("location.hash = arguments[0]", f"#/c/{notes}")
        ann.find(".absent-thread p")
        yield "banners-thread"


SCREENS = [failed, nothing, banners]
