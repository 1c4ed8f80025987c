"""Whom and what the screens show: Ann, whose page is looked at, the people around her, and what they have written."""

import contextlib
import datetime
import uuid

import httpx
from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.chats import API
from switchboard_tests.browsers.pages import Person, together

# Names and texts by direction: in the pseudo-language that is written from right to left, a Latin letter is a text that
# the catalogue does not have. What people write is in the direction of the page, in the other one, and in both.
WORDS = {
    "ltr": {
        "names": ["Ann Abel", "Ben Brook", "Cem Can", "Dora Dean", "Eve Ernst"],
        "group": "Rome in spring", "team": "Choir", "note": "Ask for the key at the desk.", "meeting": "We met in Rome",
        "texts": [
            "Shall we take the night train?", "It leaves at seven.", "Or we fly, and have a day more.",
            "The train, please.", "then I book it.",
            "Look at `arrivals` first: https://example.org/trains?from=Vienna&to=Rome", "🎉",
            "```\nfor bed in beds:\n    book(bed)\n```",
            "**Two beds**, one by the window, and breakfast at 06:30, *they say*.",
            "שתי מיטות, and one more", "Bring the good coffee.", "Gone",
        ],
        "hello": "Hello", "reply": "Fine, and you?", "ask": "How are you today?",
        "request": "Hello Ann, I got your address from Cem.",
    },
    "rtl": {
        "names": ["ענת אביב", "בן ברק", "جميل جان", "Δώρα Δήμου", "Εύα Ερμή"],
        "group": "רומא באביב", "team": "המקהלה", "note": "לבקש את המפתח בקבלה.", "meeting": "נפגשנו ברומא",
        "texts": [
            "ניקח את רכבת הלילה?", "היא יוצאת בשבע.", "או שנטוס, ויהיה לנו עוד יום.", "הרכבת, בבקשה.", "אז אני מזמין.",
            "קודם תסתכלי: `12:30` https://example.org/", "🎉", "```\n6 * 7 == 42\n```",
            "**שתי מיטות**, אחת ליד החלון, וארוחת בוקר ב־06:30, *הם אומרים*.",
            "Δύο κρεβάτια, ועוד אחת", "תביאי את הקפה הטוב.", "נעלם",
        ],
        "hello": "שלום", "reply": "טוב, ואת?", "ask": "מה שלומך היום?", "request": "שלום ענת, קיבלתי את הכתובת מחבר.",
    },
}  # fmt: skip


class Stage:
    """Ann and Ben with a browser each, in whose pages nothing is open."""

    def __init__(self, browsers, url, direction, server=None, proxy=None):
        self.url, self.direction, self.words = url, direction, WORDS[direction]
        self.server, self.proxy = server, proxy
        self.names = self.words["names"]
        self.browsers = browsers
        urls = (proxy.url if proxy else url, url)
        self.ann, self.ben = [Person(one, where, name) for one, where, name in zip(browsers, urls, self.names)]
        for person, name in zip((self.ann, self.ben), ("ann", "ben")):
            person.email = f"{name}-{uuid.uuid4().hex[:10]}@example.org"
        # Of Ann, once she is signed in.
        self.driver = None
        self.is_written = False
        self.language = "ar-XB" if direction == "rtl" else "en"
        # Latin letters that are no texts of the client's own.
        self.latin = [self.ann.email, "https://example.org/", "all"]

    def sign_up(self):
        """Once, whoever asks for it first."""
        if self.driver is not None:
            return
        together([self.ann, self.ben], Person.sign_up)
        self.one, self.other = API(self.ann), API(self.ben)
        self.driver = self.ann.driver
        self.set_language(self.ann)

    def set_language(self, person):
        """That of the direction, for somebody who is signed in."""
        person.driver.execute_script("switchboard.preferences.set('language', arguments[0])", self.language)
        person.driver.refresh()
        script = "return document.documentElement.lang"
        person.browser.wait("the language", lambda: person.driver.execute_script(script) == self.language)
        person.is_in()

    def write(self):
        """Makes what the list, the threads and the people are seen with: once, whoever asks for it first."""
        if self.is_written:
            return
        self.sign_up()
        self.is_written = True
        one, other, words = self.one, self.other, self.words
        self.cem, self.dora, self.eve = [API.of_new_user(self.url, name) for name in self.names[2:]]
        self.direct = one.create("direct", [other])
        reply = other.say(self.direct, words["reply"], replyTo=one.say(self.direct, words["ask"]))
        one.ask("PUT", self.message(reply, self.direct) + "/reactions/%F0%9F%91%8D")
        self.notes = one.create("self")
        one.ask("PUT", self.message(one.say(self.notes, words["note"]), self.notes) + "/star")
        self.group = one.create("group", [other, self.cem], name=words["group"])
        self._write_group()
        self.team = self.cem.create("group", [one], name=words["team"])
        self.cem.say(self.team, words["hello"])
        one.ask("PATCH", f"/v1/conversations/{self.team}/members/me", {"muted": {"mentions": True}, "pinned": True})
        # A stranger, a friend, one who asks, one who is asked, and one who is blocked.
        asked = self.dora.ask("POST", "/v1/conversations", {
            "clientID": str(uuid.uuid4()), "kind": "direct", "members": [one.user]})  # fmt: skip
        self.request = asked["conversation"]["id"]
        self.dora.say(self.request, words["request"])
        befriend(one, self.cem)
        self.cem.ask("POST", f"/v1/friends/{one.user}/accept")
        befriend(other, one, words["meeting"])
        befriend(one, self.dora)
        one.ask("PUT", f"/v1/blocks/{self.eve.user}")
        one.ask("PATCH", "/v1/me", {"callWaiting": True})

    def _write_group(self):
        """Every kind of message but the record of a call, which a call leaves."""
        one, other, cem, group = self.one, self.other, self.cem, self.group
        first, second, third, train, book, look, party, code, beds, both, coffee, gone = self.words["texts"]
        root = other.say(group, first, second, third)
        one.say(group, train, replyTo=root - 2)
        other.say(group, f"<@{one.user}> {book}", thread=root)
        self.edited = one.say(group, look)
        version = one.ask("GET", self.message(self.edited))["message"]["textVersion"]
        one.ask("PATCH", self.message(self.edited), {"text": f"{look} 🚆", "textVersion": version})
        other.say(group, party)
        self.code = cem.say(group, code, beds, both)
        one.ask("DELETE", self.message(one.say(group, gone)) + "?for=all")
        one.ask("POST", f"/v1/conversations/{group}/messages", {
            "clientID": str(uuid.uuid4()), "forward": {"conversation": self.direct, "number": 2}})  # fmt: skip
        for who, emoji in ((other, "👍"), (cem, "👍"), (cem, "❤️"), (one, "🎉")):
            who.ask("PUT", self.message(root) + f"/reactions/{httpx.URL(path=emoji).raw_path.decode().lstrip('/')}")
        one.ask("PUT", self.message(root) + "/pin")
        one.ask("PUT", self.message(self.edited) + "/star")
        other.send_voice(group)
        one.ask("PATCH", f"/v1/conversations/{group}", {"disappearAfter": 86_400})
        one.ask("POST", f"/v1/conversations/{group}/links", {"expiresAt": next_week(), "maxUses": 10})
        self.mine = one.say(group, both)
        other.ask("POST", f"/v1/conversations/{group}/marks", {"read": self.mine})
        self.unread = other.say(group, coffee)
        self.root = root

    def message(self, number, conversation=None):
        return f"/v1/conversations/{conversation or self.group}/messages/{number}"

    def reset(self):
        """Closes what is open on Ann's page."""
        if self.driver is None:
            return
        self.driver.execute_script(
            "for (const one of document.querySelectorAll('dialog[open]')) one.close(); document.activeElement?.blur();"
            "location.hash = '#/starred'"
        )
        self.ann.find("main[data-page=starred]")

    def leave(self):
        with contextlib.suppress(AssertionError):
            together([self.ann, self.ben], Person.leave_calls)
        for one in self.browsers:
            one.keep_one_tab()
            one.driver.get("about:blank")

    def escape(self):
        self.ann.press(Keys.ESCAPE)


def next_week():
    return (datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=7)).strftime("%Y-%m-%dT%H:%M:%SZ")


def befriend(one, other, note=None):
    body = {"clientID": str(uuid.uuid4()), "user": other.user, **({"note": note} if note else {})}
    one.ask("POST", "/v1/friends", body)


