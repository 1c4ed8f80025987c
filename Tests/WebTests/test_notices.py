"""chat/thread/notices.js: what happened in a conversation, in words."""

import pytest

NAMES = "(user) => user.toUpperCase()"
RUN = f"""
    const {{ noticeText, duration }} = await load("chat/thread/notices.js");
    return seconds === null ? noticeText({{ author, notice }}, "me", {NAMES}) : duration(seconds);
"""


@pytest.mark.parametrize(
    ("author", "notice", "text"),
    [
        ("ann", {"kind": "added", "users": ["ben"], "userCount": 1}, "ANN added BEN."),
        ("me", {"kind": "added", "users": ["ben", "me"], "userCount": 2}, "You added BEN and you."),
        ("ann", {"kind": "added", "users": ["b", "c", "d"], "userCount": 3}, "ANN added B, C and D."),
        ("ann", {"kind": "added", "users": ["b", "c", "d", "e"], "userCount": 100}, "ANN added B, C and 98 others."),
        ("ben", {"kind": "added", "users": ["ben"], "userCount": 1, "server": True}, "An administrator added BEN."),
        ("ann", {"kind": "joined", "via": "link"}, "ANN joined by a link."),
        ("ann", {"kind": "joined", "via": "invitation"}, "ANN joined by invitation."),
        ("ann", {"kind": "left"}, "ANN left."),
        ("ann", {"kind": "removed", "users": ["me"], "userCount": 1}, "ANN removed you."),
        ("me", {"kind": "renamed", "name": "Trip"}, "You named the group Trip."),
        ("me", {"kind": "renamed"}, "You removed the group’s name."),
        ("ann", {"kind": "settings", "settings": {}}, "ANN changed the settings of the group."),
        ("ann", {"kind": "role", "users": ["ben"], "role": "admin"}, "ANN made BEN an administrator."),
        ("ann", {"kind": "owner", "users": ["ben"]}, "BEN owns the group now."),
        ("ann", {"kind": "owner", "users": ["me"]}, "You own the group now."),
        ("ann", {"kind": "disappearing", "disappearAfter": 7200}, "ANN set messages to disappear after 2 hours."),
        ("ann", {"kind": "disappearing"}, "ANN turned disappearing messages off."),
        ("ann", {"kind": "pinned", "number": 3}, "ANN pinned a message."),
        # One of a newer server.
        ("ann", {"kind": "danced"}, ""),
    ],
)
def test_words(run, author, notice, text):
    assert run(RUN, author=author, notice=notice, seconds=None) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(10, "10 seconds"), (60, "1 minute"), (90, "90 seconds"), (86_400, "1 day"), (604_800, "7 days")])
def test_durations(run, seconds, text):
    assert run(RUN, author="", notice=None, seconds=seconds) == text
