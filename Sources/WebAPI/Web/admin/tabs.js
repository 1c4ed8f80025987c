// The tabs, one module each: { id, title, open(root, detail) }. `detail` is what follows the id in the address, such as
// a user's id. `open` fills the root and returns a function that stops what it began.

import { audit } from "./tabs/audit.js";
import { calls } from "./tabs/calls.js";
import { configuration } from "./tabs/configuration.js";
import { keys } from "./tabs/keys.js";
import { overview } from "./tabs/overview.js";
import { pushes } from "./tabs/pushes.js";
import { reports } from "./tabs/reports.js";
import { users } from "./tabs/users.js";
import { webhooks } from "./tabs/webhooks.js";

export const tabs = [overview, users, reports, calls, keys, webhooks, pushes, audit, configuration];
