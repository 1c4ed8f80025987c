"""chat/thread/feed-keys.js and elements/page-link.js: what keys do in the messages of a thread, and links that go again to where one is."""

import pytest

pytestmark = pytest.mark.usefixtures("other_origin")

BEGIN = """
    const { watchKeys } = await load("chat/thread/feed-keys.js");
    const { h } = await load("elements/dom.js");
    const acts = [];
    const messages = [1, 2, 3].map((number) => h("article", { class: "message", id: `message-${number}`, tabindex: "-1", data: { number: String(number) } },
        h("button", { class: "reaction" }, "+")));
    const list = h("div", { tabindex: "0" }, messages);
    const outside = h("button", {}, "outside");
    document.body.replaceChildren(outside, list);
    watchKeys(list, (key, number) => acts.push([key, number]), () => messages[1]);
    const unused = [];
    addEventListener("keydown", (event) => { if (!event.defaultPrevented) unused.push(event.key); });
    const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const point = (node) => {
        node.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
        node.focus();
    };
    const focused = () => document.activeElement.id;
"""


def test_letters_act_on_a_message_that_was_come_to_by_the_keyboard(run):
    assert run(BEGIN + """
        list.focus();
        const first = focused();
        press("r");
        press("ArrowDown");
        press("e");
        press("h");
        return [first, focused(), acts, unused];
    """) == ["message-2", "message-3", [["r", 2], ["e", 3]], ["h"]]


@pytest.mark.parametrize("way", ["pointer", "jump", "reaction"])
def test_letters_are_written_after_a_press_on_a_message_or_a_jump_to_it(run, way):
    """The page gives them to the field, as those that nothing uses."""
    assert run(BEGIN + """
        list.focus();
        if (way === "pointer") point(messages[2]);
        else if (way === "reaction") point(messages[1].firstElementChild);
        else messages[2].focus();
        press("e");
        press("r");
        const before = acts.length;
        if (way !== "reaction") {
            press("ArrowUp");
            press("e");
        }
        return [before, acts, unused];
    """, way=way) == [0, [] if way == "reaction" else [["e", 2]], ["e", "r"]]


def test_a_press_on_the_message_that_was_come_to_leaves_it(run):
    assert run(BEGIN + """
        list.focus();
        point(messages[1]);
        press("e");
        return [acts, unused];
    """) == [[], ["e"]]


def test_a_link_to_the_address_of_the_page_is_followed_again(run):
    """Not into another tab, and not where something else is done instead."""
    assert run("""
        const { pageLink } = await load("elements/page-link.js");
        const changes = [];
        addEventListener("hashchange", () => changes.push(location.hash));
        const left = [];
        const link = (href, more) => {
            const node = pageLink(href, { leave: () => left.push(href), ...more }, "here");
            document.body.append(node);
            return node;
        };
        location.hash = "#/c/1";
        await new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
        link("#/c/1").click();
        link("#/c/1", { onclick: (event) => event.preventDefault() }).click();
        const other = link("#/c/1");
        other.addEventListener("click", (event) => event.preventDefault());
        other.dispatchEvent(new MouseEvent("click", { ctrlKey: true, cancelable: true }));
        link("#/c/2").click();
        await new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
        return [changes, left];
    """) == [["#/c/1", "#/c/1", "#/c/2"], ["#/c/1", "#/c/1", "#/c/2"]]
