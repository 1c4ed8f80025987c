"""connection/identity.js: ids and the endpoint of a tab."""

import re

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def test_random_ids(run):
    """Over plain HTTP browsers have no `randomUUID`; the ids are of the same form there."""
    native, own = run("""
        const { randomID } = await load("connection/identity.js");
        const make = () => Array.from({ length: 50 }, randomID);
        const native = make();
        Object.defineProperty(crypto, "randomUUID", { value: undefined, configurable: true });
        try { return [native, make()]; } finally { delete crypto.randomUUID; }
    """)
    assert len({*native, *own}) == 100
    for one in native + own:
        assert UUID.fullmatch(one)


# Runs the rest with another instance of the module, as of another tab.
TAB = """
    const open = () => load(`connection/identity.js?${crypto.randomUUID()}`);
    sessionStorage.clear();
"""


def test_an_endpoint_survives_a_reload(run):
    before, stored, after, header = run(TAB + """
        const { endpoint: one } = await open();
        await one.claim();
        const before = [one.id, one.secret];
        const stored = sessionStorage.getItem("switchboard.endpoint");
        // Releases the lock, as a page does that is left.
        await one.renew();
        sessionStorage.setItem("switchboard.endpoint", stored);
        const { endpoint: other } = await open();
        await other.claim();
        return [before, JSON.parse(stored), [other.id, other.secret], other.header];
    """)
    assert before == after == [stored["id"], stored["secret"]]
    assert UUID.fullmatch(before[0])
    # 32 bytes as unpadded base64url.
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", before[1])
    assert header == f"{before[0]} {before[1]}"


def test_a_duplicated_tab_has_an_endpoint_of_its_own(run):
    first, copy = run(TAB + """
        const { endpoint: first } = await open();
        await first.claim();
        const { endpoint: copy } = await open();
        await copy.claim();
        return [[first.id, first.secret], [copy.id, copy.secret]];
    """)
    assert first[0] != copy[0]
    assert first[1] != copy[1]


def test_unreadable_storage(run):
    ids = run(TAB + """
        const ids = [];
        for (const text of ["", "{", "null", "7", "{}", '{"id":"x"}', '{"secret":"x"}']) {
            sessionStorage.setItem("switchboard.endpoint", text);
            const { endpoint } = await open();
            await endpoint.claim();
            ids.push(endpoint.id);
        }
        return ids;
    """)
    assert all(UUID.fullmatch(one) for one in ids)
    assert len(set(ids)) == 7
