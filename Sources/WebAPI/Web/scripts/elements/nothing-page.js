// What is shown where there is nothing, or nothing that one may see: which of the two it is, nobody is told.

import { t } from "../language/texts.js";
import { h, icon } from "./dom.js";

/** The page of an address that leads nowhere. */
export const nothingPage = () => ({ node: h("div", { class: "page" }, nothingHere("h1")) });

/** The same within another page, whose heading is not this. */
export const nothingHere = (heading = "h2") => h("div", { class: "empty nothing-here" }, icon("search"),
    h(heading, {}, t("address.nothing")), h("p", {}, t("address.why")), waysBack());

export const waysBack = () => h("div", { class: "pair" }, h("a", { class: "link", href: "#/chats" }, t("link.toChats")),
    h("a", { class: "link", href: "#/people" }, t("address.toPeople")));
