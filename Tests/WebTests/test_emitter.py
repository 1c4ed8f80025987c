"""state/emitter.js: listeners, their removal, and errors in them."""


def test_listeners_receive_the_value_in_order(run):
    assert run("""
        const emitter = new (await load("state/emitter.js")).Emitter();
        const received = [];
        emitter.on("change", (value) => received.push(["first", value]));
        emitter.on("change", (value) => received.push(["second", value]));
        emitter.on("other", () => received.push("other"));
        emitter.emit("change", 7);
        emitter.emit("unknown", 8);
        return received;
    """) == [["first", 7], ["second", 7]]


def test_a_removed_listener_is_not_called(run):
    assert run("""
        const emitter = new (await load("state/emitter.js")).Emitter();
        const received = [];
        const remove = emitter.on("change", (value) => received.push(value));
        emitter.emit("change", 1);
        remove();
        remove();
        emitter.emit("change", 2);
        return received;
    """) == [1]


def test_a_function_listens_once(run):
    """Adding it twice is adding it once, as with `addEventListener`."""
    assert run("""
        const emitter = new (await load("state/emitter.js")).Emitter();
        let count = 0;
        const listener = () => { count += 1; };
        emitter.on("change", listener);
        emitter.on("change", listener);
        emitter.emit("change");
        return count;
    """) == 1


def test_changes_while_emitting_apply_to_the_next_event(run):
    assert run("""
        const emitter = new (await load("state/emitter.js")).Emitter();
        const received = [];
        const removeFirst = emitter.on("change", () => {
            received.push("first");
            removeFirst();
            removeSecond();
            emitter.on("change", () => received.push("third"));
        });
        const removeSecond = emitter.on("change", () => received.push("second"));
        emitter.emit("change");
        received.push("-");
        emitter.emit("change");
        return received;
    """) == ["first", "second", "-", "third"]


def test_an_error_does_not_keep_the_others_from_being_called(run):
    assert run("""
        const emitter = new (await load("state/emitter.js")).Emitter();
        const received = [];
        const native = console.error;
        console.error = (error) => received.push(error.message);
        try {
            emitter.on("change", () => { throw new Error("broken"); });
            emitter.on("change", (value) => received.push(value));
            emitter.emit("change", 1);
        } finally { console.error = native; }
        return received;
    """) == ["broken", 1]
