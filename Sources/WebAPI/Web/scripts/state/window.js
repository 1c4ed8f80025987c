// Which of the messages that are held are in the page: not more than a browser lays out quickly.
//
// A window is `{first, last}`, numbers; without `last` it follows the newest message.

export const LIMIT = 120;
const OPENED = 60;
const STEP = 30;

/** The newest of them. `numbers` are those that are held, ascending. */
export const newestWindow = (numbers) => ({ first: numbers[Math.max(0, numbers.length - OPENED)], last: undefined });

/** Around a number, which need not be there. */
export function windowAround(numbers, number) {
    const index = indexFrom(numbers, number);
    const end = index + OPENED / 2;
    return { first: numbers[Math.max(0, index - OPENED / 2)], last: end >= numbers.length ? undefined : numbers[end - 1] };
}

/** More at the top; what is too far below leaves. */
export function earlierWindow(window, numbers) {
    const start = Math.max(0, indexFrom(numbers, window.first) - STEP);
    const end = endOf(window, numbers);
    const kept = Math.min(end, start + LIMIT);
    return { first: numbers[start], last: kept < numbers.length ? numbers[kept - 1] : window.last };
}

/** More at the bottom; what is too far above leaves. */
export function laterWindow(window, numbers) {
    const end = Math.min(numbers.length, endOf(window, numbers) + STEP);
    const start = Math.max(indexFrom(numbers, window.first), end - LIMIT);
    return { first: numbers[start], last: end < numbers.length ? numbers[end - 1] : undefined };
}

/** A window that follows the newest message has grown: what is too far above leaves. */
export function trimmedWindow(window, numbers) {
    if (window.last !== undefined || numbers.length - indexFrom(numbers, window.first) <= LIMIT) return window;
    return { first: numbers[numbers.length - OPENED], last: undefined };
}

export const hasEarlier = (window, numbers) => indexFrom(numbers, window.first) > 0;
export const hasLater = (window, numbers) => endOf(window, numbers) < numbers.length;

/** The messages in the window. */
export const inWindow = (window, messages) => messages.filter(({ number }) =>
    (window.first === undefined || number >= window.first) && (window.last === undefined || number <= window.last));

const endOf = (window, numbers) => window.last === undefined ? numbers.length : indexFrom(numbers, window.last + 1);

/** The index of the first number that is not below. */
function indexFrom(numbers, number) {
    if (number === undefined) return 0;
    const index = numbers.findIndex((one) => one >= number);
    return index === -1 ? numbers.length : index;
}
