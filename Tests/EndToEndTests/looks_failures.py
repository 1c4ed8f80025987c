"""Screens of what fails: each function brings Ann's page into a state, and yields its name."""

import uuid

from switchboard_tests.browsers.chats import open_chat, write
from switchboard_tests.browsers.offline import OPEN_MENU


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
    group = stage.one.create("group", [stage.other], name=stage.words["team"])
    last = stage.one.say(group, stage.words["note"])
    stage.one.ask("POST", f"/v1/conversations/{group}/clear?upTo={last}")
    open_chat(stage.ann, group)
    stage.ann.find(".feed > .nothing")
    yield "thread-empty"


SCREENS = [failed, nothing]
