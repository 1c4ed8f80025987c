// Links that lead to messages.

import { pageLink } from "../../elements/page-link.js";

export const messageLink = ({ conversation, number }, attributes, ...children) => pageLink(`#/c/${conversation}/${number}`, attributes, ...children);
