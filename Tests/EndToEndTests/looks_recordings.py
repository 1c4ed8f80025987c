"""Screens of a call with captions that is recorded, and of its recording. Ben's microphone plays speech."""

from looks_calls import layout
from switchboard_tests.browsers.chats import open_chat


def recorded(stage):
    ann, ben = stage.ann, stage.ben
    group = stage.one.create("group", [stage.other], name=stage.words["group"])
    open_chat(ann, group)
    ann.click("[data-action=call-group]")
    ben.rings(limit=60)
    ben.answer("accept-audio")
    for person in (ann, ben):
        person.is_connected(limit=60)
    # Her fake microphone beeps, which takes long to transcribe.
    ann.control("mute")
    ann.control("camera")
    ann.control("record")
    ann.find("#call-recording")
    ann.control("captions")
    ann.find("#captions .caption", 60)
    yield "call-with-captions"
    ann.click("[data-action=call-chat]")
    layout(stage, ["beside", "corner"])
    yield "captions-with-chat"
    ann.click("#call [data-action=expand-call]")
    layout(stage, ["full"])
    ann.control("record")
    ann.gone("#call-recording")
    for person in (ann, ben):
        person.hang_up()
        person.leave_call_screen()
    ann.go("history")
    ann.find("#history [data-action=recordings]")
    yield "history-with-recording"
    ann.click("#history [data-action=recordings]")
    ann.find("#recordings .track")
    ann.find("#recordings [data-action=transcribe]")
    yield "recordings"
    ann.click("#recordings [data-action=mix]")
    ann.click("#recordings [data-action=transcribe]")
    ann.find("#recordings .mix[data-status=complete] audio", 60)
    ann.find("#recordings .said[data-status=complete] .line", 90)
    yield "recording-transcript"
    ann.click("#recordings [data-action=delete-recording]")
    ann.find("#ask")
    yield "recording-delete"


SCREENS = [recorded]
