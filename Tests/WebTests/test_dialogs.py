"""elements/dialogs.js and elements/dom.js: what closes a dialog, with the pointer of the browser, and what is read aloud beside it."""

import pytest
from selenium.webdriver.common.action_chains import ActionChains

pytestmark = pytest.mark.usefixtures("other_origin")

OPEN = """
    const { open } = await load("elements/dialogs.js");
    const { h } = await load("elements/dom.js");
    const input = h("textarea", { id: "input", value: "some words that are selected" });
    const dialog = open({ id: "tested", style: "padding: 40px; inline-size: 300px; block-size: 200px; margin: auto" },
        h("form", { class: form ? "ask-form" : "other" }, input));
    const { left, top, right, bottom } = dialog.getBoundingClientRect();
    const field = input.getBoundingClientRect();
    return { inside: [Math.round(field.left + 20), Math.round(field.top + 10)], edge: [Math.round(left + 10), Math.round(top + 10)],
        beside: [Math.round(left - 30), Math.round(top + 100)] };
"""


def drag(page, begin, end):
    """Presses the button at one place of the window and releases it at another."""
    pointer = ActionChains(page.driver, duration=0)
    pointer.w3c_actions.pointer_action.move_to_location(*begin).pointer_down().move_to_location(*end).pointer_up()
    pointer.w3c_actions.perform()


def is_open(page):
    return page.driver.execute_script("return document.querySelector('#tested[open]') !== null")


@pytest.fixture
def positions(page, run):
    yield lambda form=False: run(OPEN, form=form)
    page.driver.execute_script("document.getElementById('tested')?.close()")


def test_a_press_beside_it_closes_it(page, positions):
    at = positions()
    drag(page, at["beside"], at["beside"])
    assert not is_open(page)


@pytest.mark.parametrize(("begin", "end"), [("edge", "edge"), ("inside", "beside"), ("inside", "edge"), ("beside", "inside"), ("edge", "beside")])
def test_neither_its_edge_nor_a_selection_that_is_dragged_out_closes_it(page, positions, begin, end):
    at = positions()
    drag(page, at[begin], at[end])
    assert is_open(page)


def test_a_press_beside_it_loses_nothing_that_was_written_in_its_form(page, positions):
    at = positions(True)
    drag(page, at["inside"], at["inside"])
    ActionChains(page.driver).send_keys("a word").perform()
    drag(page, at["beside"], at["beside"])
    assert is_open(page)
    ActionChains(page.driver).send_keys("\ue00c").perform()
    assert not is_open(page)


SAID = """
    const { open } = await load("elements/dialogs.js");
    const { announce, toast } = await load("elements/dom.js");
    for (const id of ["announcer", "toasts"]) {
        const region = document.createElement("div");
        [region.id, region.className] = [id, id];
        document.body.append(region);
    }
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const lines = (selector) => [...document.querySelectorAll(`${selector} > p`)].map((one) => one.textContent);
"""


def test_what_is_announced_at_once_is_announced_one_after_the_other(run):
    assert run(SAID + """
        announce("one");
        announce("two");
        await frame();
        const both = lines("#announcer");
        announce("three");
        announce("");
        await frame();
        return [both, lines("#announcer")];
    """) == [["one", "two"], []]


def test_what_is_announced_while_a_dialog_is_open_is_inside_of_it(run):
    """With short messages, and in the one on top. All else is hidden from screen readers."""
    assert run(SAID + """
        const first = open({ id: "first" });
        const second = open({ id: "second" });
        announce("one");
        await frame();
        second.close();
        toast("two");
        await frame();
        const within = lines("#first > .announcer");
        first.close();
        toast("three");
        announce("four");
        await frame();
        return [lines("#announcer"), within, lines("#toasts"), document.querySelectorAll("dialog").length];
    """) == [["four"], ["two"], ["two", "three"], 0]


def test_a_dialog_that_is_not_of_this_kind_has_a_region_too(run):
    assert run(SAID + """
        const dialog = document.createElement("dialog");
        document.body.append(dialog);
        dialog.showModal();
        announce("it rings");
        announce("still");
        await frame();
        const said = lines("dialog > .announcer");
        dialog.remove();
        return [said, lines("#announcer")];
    """) == [["it rings", "still"], []]
