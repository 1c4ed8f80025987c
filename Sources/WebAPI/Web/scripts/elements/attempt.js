// Doing what may fail: people are told why.

import { errorMessage } from "../connection/problems.js";
import { toast } from "./dom.js";

export const report = (error) => toast(errorMessage(error), { error: true });

/** Does the work, a function or a promise; resolves to whether it succeeded. */
export async function attempt(work) {
    try {
        await (typeof work === "function" ? work() : work);
        return true;
    } catch (error) {
        report(error);
        return false;
    }
}
