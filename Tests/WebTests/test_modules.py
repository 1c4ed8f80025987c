"""Every module loads: there is no syntax error, and no import of a name that does not exist."""

import pathlib

import pytest

WEB = pathlib.Path(__file__).parents[2] / "Sources/WebAPI/Web"
# Those that fill a page as soon as they are loaded, and the service workers.
ENTRY_POINTS = {"admin/admin.js", "docs/search.js", "scripts/app/main.js", "worker.js", "worker/main.js"}
# Programs; the browser tier runs them.
EXAMPLES = {str(path.relative_to(WEB)) for path in WEB.glob("docs/examples/*.js")}
MODULES = {str(path.relative_to(WEB)) for path in WEB.rglob("*.js")} - ENTRY_POINTS - EXAMPLES

WAIT_FOR_FORM = """
const [done] = arguments;
const timer = setInterval(() => {
    if (!document.querySelector("form")) return;
    clearInterval(timer);
    done(true);
}, 20);
"""


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_module_loads(run, module):
    assert run("return Object.keys(await import(`/${module}`)).length", module=module) > 0


def test_the_entry_point_loads(page, origin):
    """Without a server the page still shows the form to sign in."""
    before = page.driver.current_window_handle
    page.driver.switch_to.new_window("tab")
    try:
        page.driver.get(f"{origin}/")
        assert page.driver.execute_async_script(WAIT_FOR_FORM)
    finally:
        page.driver.close()
        page.driver.switch_to.window(before)
