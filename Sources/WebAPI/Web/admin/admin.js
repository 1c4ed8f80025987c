// The operator's page: signs in, and shows the tab that the address names.

import { session } from "./session.js";
import { showShell } from "./shell.js";
import { showSignIn } from "./sign-in.js";

const page = document.getElementById("page");
let close = () => {};

function show() {
    close();
    close = session.token ? showShell(page) : showSignIn(page);
}

session.onchange = () => {
    show();
    // The element that had the focus is gone. The form to sign in takes it by itself.
    if (session.token) document.getElementById("main").focus();
};
show();
