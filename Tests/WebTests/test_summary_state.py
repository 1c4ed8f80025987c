"""state/summary-items.js: summaries as they are shown, and why there is none."""

import pytest


def item(kind, *messages):
    return {"kind": kind, "text": kind, "messages": list(messages)}


def test_items_are_by_kind_and_rest_on_messages(call):
    items = [item("question", 4), item("point", 1), item("omen", 2), item("action", 3), item("decision"), item("point", 5)]
    sections = call("state/summary-items.js", "sectionsOf", {"items": items})
    assert [(one["kind"], [item["messages"] for item in one["items"]]) for one in sections] == [
        ("point", [[1], [5]]), ("action", [[3]]), ("question", [[4]])
    ]  # fmt: skip
    assert call("state/summary-items.js", "sectionsOf", {}) == []


@pytest.mark.parametrize(
    ("due", "want"),
    [
        ("2026-02-28", [True, 2026, 1, 28]),
        ("2026-02-28T10:00:00Z", [False, 2026, 1, 28]),
        ("2026-02-31", None),
        ("on Friday", None),
        (None, None),
    ],
)
def test_due_days_are_days_of_the_calendar(run, due, want):
    script = """
        const { dueOf } = await load("state/summary-items.js");
        const found = dueOf({ due: due ?? undefined });
        return found ? [found.isDay, found.at.getFullYear(), found.at.getMonth(), found.at.getDate()] : null;
    """
    assert run(script, due=due) == want


def test_what_was_read_here_is_not_important_any_more(call):
    messages = [{"message": {"conversation": one, "number": number}} for one, number in (("a", 3), ("a", 4), ("b", 1))]
    left = call("state/summary-items.js", "stillUnread", messages, {"read": {"a": 3}})
    assert [(one["message"]["conversation"], one["message"]["number"]) for one in left] == [("a", 4), ("b", 1)]


@pytest.mark.parametrize(
    ("problem", "want"),
    [
        ({"type": "provider_failed", "status": 502}, {"kind": "unavailable", "canRetry": True}),
        ({"type": "provider_not_configured", "status": 503}, {"kind": "unavailable", "canRetry": True}),
        ({"type": "consent_required", "status": 403}, {"kind": "consent", "canRetry": False}),
        ({"type": "budget_exhausted", "status": 429}, {"kind": "budget", "canRetry": False}),
        ({"type": "budget_exhausted", "retryAfter": 60_000}, {"kind": "budget", "canRetry": False, "until": "1970-01-01T00:01:01.000Z"}),
        ({"type": "rate_limited", "status": 429}, {"kind": "other", "canRetry": True}),
        ({"type": "network"}, {"kind": "other", "canRetry": True}),
        ({"type": "encrypted_conversation", "status": 409}, {"kind": "other", "canRetry": False}),
    ],
)
def test_why_there_is_none(call, problem, want):
    assert call("state/summary-items.js", "failureOf", problem, 1000) == want
