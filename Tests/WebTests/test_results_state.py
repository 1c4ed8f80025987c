"""What a response says before the streams do, of a thread and of a row of the list (state/results.js)."""

RESULTS = """
    const r = await load("state/results.js");
    const t = await load("state/thread-rows.js");
    const { noBlocks, withMessages } = await load("state/blocks.js");
    const message = (number, version = number, more = {}) => ({ number, version, author: "me", ...more });
    const held = (first, last) => ({ ...t.emptyThread(), isLoaded: true, first, last,
        blocks: withMessages(noBlocks, first === undefined ? [] : Array.from({ length: last - first + 1 }, (_, index) => message(first + index))) });
    const seen = (thread) => [t.shownNumbers(thread), thread.first ?? null, thread.last ?? null];
    const received = (thread, ...numbers) => t.applyRows(thread, numbers.map((number) => ({ message: message(number) })));
"""


def test_a_message_widens_the_newest_range_at_its_end_alone(run):
    script = RESULTS + """
        const [next, later] = [4, 6].map((number) => r.withResponse(held(1, 3), message(number)));
        return [seen(next), seen(later), seen(received(later, 4)), seen(received(later, 4, 5, 6)), seen(r.withResponse(held(2, 3), message(1)))];
    """
    assert run(script) == [
        [[1, 2, 3, 4], 1, 4], [[1, 2, 3, 6], 1, 3], [[1, 2, 3, 4, 6], 1, 4], [[1, 2, 3, 4, 5, 6], 1, 6], [[2, 3], 2, 3],
    ]


def test_the_first_message_that_is_seen_of_a_conversation(run):
    """What was sent before it, after the conversation was cleared, is not taken for cleared."""
    script = RESULTS + """
        const later = r.withResponse(held(), message(60));
        return [seen(r.withResponse(held(), message(1))), seen(later), seen(received(later, 58, 59, 60)), seen(t.cleared(later, [{ from: 60 }])),
            seen(t.cleared(later, [{ from: 59 }]))];
    """
    assert run(script) == [[[1], 1, 1], [[60], None, None], [[58, 59, 60], 58, 60], [[], None, None], [[60], None, None]]


def test_a_message_that_overtook_others_while_one_reads_earlier_ones(run):
    script = RESULTS + """
        const { applyAround, isShown, leftPast } = await load("state/earlier-range.js");
        const past = applyAround(held(20, 22), { messages: [message(5), message(6)], range: [5, 6], hasEarlier: true, hasLater: true });
        const next = r.withResponse(past, message(25));
        return [t.shownNumbers(next), isShown(next, 25), t.shownNumbers(leftPast(next)), isShown(leftPast(next), 25), isShown(leftPast(next), 24)];
    """
    assert run(script) == [[5, 6], False, [20, 21, 22, 25], True, False]


def test_a_row_with_a_result(run):
    script = RESULTS + """
        const row = { id: "v", counter: 7, membership: { read: 2, muted: { mentions: true }, markedUnread: true }, lastMessage: message(4, 14), unread: 2, mentions: 1 };
        const entry = (name, params = {}) => ({ name, params });
        const [send, edit, mark] = [entry("messages.send"), entry("messages.edit", { number: 4 }), entry("conversations.mark")];
        const last = (from, one, sent) => r.rowWithResult(from, one, { message: sent }).lastMessage?.version ?? null;
        const marked = (read) => { const { unread, mentions, membership } = r.rowWithResult(row, mark, { read, delivered: read }); return [unread, mentions, membership.read, membership.markedUnread]; };
        return [[last(row, send, message(5, 20)), last(row, edit, message(4, 20)), marked(3), marked(4), r.rowWithResult(row, entry("members.updateMe", { muted: null }), { membership: { read: 2 } }).membership.muted ?? null],
            // Its frame may have come first, with what was written since.
            [last(row, send, message(3, 20)), last(row, edit, message(4, 13)), last(row, edit, message(9, 20)), last({ id: "v", gone: true }, send, message(5, 20)), marked(2), marked(1)]];
    """
    unread = [2, 1, 2, True]
    assert run(script) == [[20, 20, [2, 1, 3, False], [0, 0, 4, False], None], [14, 14, 14, None, unread, unread]]


def test_a_message_that_the_user_may_see_no_more_is_shown_nowhere(run):
    """Its response says that it was stored, without a text."""
    script = RESULTS + """
        const entry = { name: "messages.send", params: {} };
        const [thread, row] = [held(1, 3), { id: "v", lastMessage: message(3) }];
        const result = { message: message(4, 0), duplicate: true };
        return [seen(r.withResult(thread, entry, result)), r.rowWithResult(row, entry, result).lastMessage.number];
    """
    assert run(script) == [[[1, 2, 3], 1, 3], 3]
