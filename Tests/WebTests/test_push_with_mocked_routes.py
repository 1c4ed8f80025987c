"""notifications/push.js: when this browser is registered with the server, whose routes are mocked here, and so is the push service."""

import pytest

# A browser with a push service, and a server with a key; `asked` are the requests for registrations, and what becomes of
# subscriptions.
BEGIN = """
    const { signIn, serve, settle, until } = await import("/tests/signed-in.js");
    const { credentials } = await load("connection/credentials.js");
    const { server } = await load("connection/features.js");
    const { notifications } = await load("notifications/notifications.js");
    const { preferences } = await load("store/preferences.js");
    const { push } = await load("notifications/push.js");
    const { keyOfBytes } = await load("state/subscription.js");
    const { updates } = await load("connection/updates.js");

    const asked = [];
    let subscription = null;
    const pushManager = {
        refusal: undefined,
        async getSubscription() { return subscription; },
        async subscribe({ userVisibleOnly, applicationServerKey }) {
            if (this.refusal) throw new DOMException("Refused.", this.refusal);
            const endpoint = `https://push.example/${keyOfBytes(applicationServerKey)}`;
            asked.push(["subscribe", userVisibleOnly]);
            subscription = {
                options: { applicationServerKey: applicationServerKey.buffer },
                toJSON: () => ({ endpoint, keys: { p256dh: "p", auth: "a" } }),
                async unsubscribe() {
                    asked.push(["unsubscribe"]);
                    subscription = null;
                },
            };
            return subscription;
        },
    };
    const registration = { pushManager };
    updates.registration = Promise.resolve(registration);
    Object.defineProperty(navigator.serviceWorker, "ready", { configurable: true, get: async () => registration });
    navigator.serviceWorker.getRegistration = async () => registration;
    Object.defineProperty(Notification, "permission", { configurable: true, get: () => permission });

    for (const name of ["switchboard.push", "switchboard.credentials"]) localStorage.removeItem(name);
    sessionStorage.clear();
    preferences.set("push", true);
    preferences.set("notifications", true);
    const keep = (id, session = id) => credentials.begin({ user: { id, displayName: id }, session: { id: session }, accessToken: id,
        refreshToken: id, expiresIn: 3_600 }, true);
    keep("ann");
    let problem;
    const answer = (name) => async (params) => {
        asked.push([name, params]);
        if (problem) throw problem;
        return {};
    };
    serve({ "push.register": answer("register"), "push.unregister": answer("unregister") });
    const [first, second] = ["AAAA", "BBBB"];
    const be = (key) => server.note({ push: key ? { web: { publicKey: key } } : {} });
    const taken = () => asked.splice(0);
    be(first);
    await push.update();
"""
REGISTERED = ["register", {"kind": "web", "endpoint": "https://push.example/AAAA", "keys": {"p256dh": "p", "auth": "a"},
                           "shared": False}]  # fmt: skip


@pytest.fixture
def begin(page, other_origin):
    def run(script, permission="granted"):
        return page.run(BEGIN + script, permission=permission)

    return run


def test_it_is_registered_once(begin):
    found = begin("const before = taken(); await push.update(); return [before, taken(), push.state];")
    assert found == [[["subscribe", True], REGISTERED], [], "on"]


@pytest.mark.parametrize(
    ("change", "want"),
    [
        ('keep("ben");', ["register"]),
        # Who signs in again has another sign-in.
        ('keep("ann", "other");', ["register"]),
        ("be(second);", ["unsubscribe", "subscribe", "register"]),
        ("await subscription.unsubscribe(); taken();", ["subscribe"]),
        ('localStorage.removeItem("switchboard.push");', ["register"]),
    ],
)
def test_what_has_it_registered_again(begin, change, want):
    found = begin(f"taken(); {change} await push.update(); return [taken().map(([name]) => name), push.state];")
    assert found == [want, "on"]


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ('preferences.set("push", false);', "off"),
        ('preferences.set("notifications", false);', "off"),
        ('permission = "denied";', "off"),
        ("be(undefined);", "absent"),
    ],
)
def test_what_ends_it(begin, change, state):
    found = begin(f"taken(); {change} await push.update(); await push.update(); return [taken(), push.state];")
    assert found == [[["unregister", {"kind": "web"}], ["unsubscribe"]], state]


@pytest.mark.parametrize("permission", ["default", "denied"])
def test_it_never_asks_by_itself(begin, permission):
    assert begin("return [taken(), push.state];", permission=permission) == [[], "off"]


def test_signing_out_ends_it(begin):
    script = 'taken(); await push.end(); return [taken(), localStorage.getItem("switchboard.push")];'
    assert begin(script) == [[["unregister", {"kind": "web"}], ["unsubscribe"]], None]


def test_a_sign_in_that_was_revoked_ends_the_subscription(begin):
    assert begin("taken(); credentials.end(); await push.forget(); return taken();") == [["unsubscribe"]]


def test_a_sign_in_that_ends_with_its_tab_is_not_registered(begin):
    """Nor does it end what another one has registered."""
    script = 'taken(); signIn("ben"); await push.update(); await push.end(); return [taken(), push.state];'
    assert begin(script) == [[], "temporary"]


@pytest.mark.parametrize(
    ("name", "state"), [("NotAllowedError", "refused"), ("AbortError", "noService"), ("InvalidStateError", "noService")]
)
def test_a_refusal_of_the_browser(begin, name, state):
    script = f"""
        await subscription.unsubscribe();
        taken();
        pushManager.refusal = "{name}";
        await push.update();
        return [taken(), push.state];
    """
    assert begin(script) == [[], state]


def test_a_refusal_of_the_server_is_tried_again_at_the_next_start(begin):
    found = begin("""
        const { Problem } = await load("connection/problems.js");
        localStorage.removeItem("switchboard.push");
        taken();
        problem = new Problem({ type: "forbidden", status: 403 });
        await push.update();
        const failed = [push.state, push.problem.type];
        problem = undefined;
        await push.update();
        return [failed, push.state, taken().map(([name]) => name)];
    """)
    assert found == [["failed", "forbidden"], "on", ["register", "register"]]


def test_a_browser_without_push(begin):
    script = "updates.registration = Promise.resolve(undefined); await push.update(); return push.state;"
    assert begin(script) == "unsupported"


def test_a_browser_that_looks_for_its_push_service_for_ever(begin):
    """Others' work does not wait for it, and what it finds in the end is registered."""
    found = begin("""
        await subscription.unsubscribe();
        localStorage.removeItem("switchboard.push");
        taken();
        const { subscribe } = pushManager;
        let find;
        pushManager.subscribe = (options) => new Promise((resolve) => {
            find = () => resolve(subscribe.call(pushManager, options));
        });
        const wait = globalThis.setTimeout;
        globalThis.setTimeout = (run, time) => wait(run, time / 1_000);
        await push.update();
        globalThis.setTimeout = wait;
        const before = [push.state, taken()];
        find();
        await until("the registration", () => push.state === "on");
        return [before, taken().map(([name]) => name)];
    """)
    assert found == [["noService", []], ["subscribe", "register"]]
