"""Screens of calls: each function brings Ann's page into a state, and yields its name."""

from switchboard_tests.browsers.chats import open_chat


def layout(stage, wanted):
    """A call that has no room beside the chat is in the corner."""
    stage.ann.browser.wait(
        f"the call to be {wanted}", lambda: stage.ann.attribute("#call", "data-layout") in wanted
    )


def incoming(stage):
    ann, ben = stage.ann, stage.ben
    open_chat(ben, stage.direct)
    ben.click(".thread-head [data-action=call-audio]")
    ann.rings()
    yield "incoming"
    ann.answer("decline")
    ben.phase("ended")
    ben.leave_call_screen()


def call(stage):
    ann, ben = stage.ann, stage.ben
    open_chat(ann, stage.direct)
    ann.click(".thread-head [data-action=call-video]")
    ben.rings()
    ann.phase("ringing")
    yield "calling"
    ben.answer()
    ann.is_connected()
    ann.has_video()
    yield "call"
    ann.control("details")
    ann.find("#details .stats")
    yield "call-details"
    ann.click("[data-action=close-panel]")
    ann.control("devices")
    ann.find("#choose-camera")
    yield "call-devices"
    ann.click("[data-action=close-panel]")
    ben.control("hold")
    ann.browser.wait("the hold", lambda: not ann.all("#call[data-picture=true]"))
    yield "call-held"
    ben.control("hold")
    ann.find("#call[data-picture=true]")
    with stage.cem.calling(stage.one):
        ann.rings()
        yield "incoming-second"
        ann.answer("hold-accept")
        ann.find(".held-call")
        yield "call-with-held"
        ann.click("[data-action=swap]")
        ann.find("#call[data-picture=true]")
    ann.gone(".held-call")
    ann.click("[data-action=call-chat]")
    layout(stage, ["beside", "corner"])
    ann.find("#write")
    yield "call-with-chat"
    with stage.cem.calling(stage.one, "video"):
        ann.rings()
        yield "incoming-with-chat"
    ann.gone("#incoming")
    ann.go("settings")
    layout(stage, ["corner"])
    yield "call-in-corner"
    ben.hang_up()
    ann.gone("#call:not([data-phase=ended])")
    ben.leave_call_screen()
    ann.leave_call_screen()


def declined(stage):
    ann, ben = stage.ann, stage.ben
    open_chat(ann, stage.direct)
    ann.click(".thread-head [data-action=call-audio]")
    ben.rings()
    ben.answer("decline")
    ann.phase("ended")
    yield "call-declined"
    ann.leave_call_screen()


def group_call(stage):
    ann, ben = stage.ann, stage.ben
    open_chat(ben, stage.group)
    ben.click("[data-action=call-group]")
    ann.rings()
    yield "incoming-group"
    ann.answer("decline")
    open_chat(ann, stage.group)
    ann.find(".thread-head [data-action=join-call]")
    yield "call-to-join"
    ann.click(".thread-head [data-action=join-call]")
    ann.is_connected(limit=60)
    ann.sees(ben)
    yield "group-call"
    ben.hang_up()
    ann.hang_up()
    ann.leave_call_screen()
    ben.leave_call_screen()


def history(stage):
    ann = stage.ann
    ann.go("history")
    ann.find("#history .row:nth-child(3)")
    yield "history"
    open_chat(ann, stage.direct)
    ann.find("#messages .call-record")
    yield "thread-with-calls"


SCREENS = [incoming, call, declined, group_call, history]
