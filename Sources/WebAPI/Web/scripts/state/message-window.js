// Which of the messages that are held are in the page: not more than a browser lays out quickly.
//
// A window is `{first, last}`, numbers; without `last` it follows the newest message. It moves by a few messages at a time,
// so that no frame has to make many.

export const LIMIT = 120;
const OPENED = 40;
const STEP = 4;
/** What leaves at once where new messages are added at the end. */
const TRIMMED = 30;

/** The newest of them. `numbers` are those that are held, ascending. */
export const newestWindow = (numbers) => ({ first: numbers[Math.max(0, numbers.length - OPENED)], last: undefined });

/** Around a number, which need not be there. */
export function windowAround(numbers, number) {
    const index = indexFrom(numbers, number);
    const end = index + OPENED / 2;
    return { first: numbers[Math.max(0, index - OPENED / 2)], last: end >= numbers.length ? undefined : numbers[end - 1] };
}

/** More at the top; what is too far below leaves. */
export function earlierWindow(view, numbers, step = STEP) {
    const start = Math.max(0, indexFrom(numbers, view.first) - step);
    const end = endOf(view, numbers);
    const kept = Math.min(end, start + LIMIT);
    return { first: numbers[start], last: kept < numbers.length ? numbers[kept - 1] : view.last };
}

/** More at the bottom; what is too far above leaves. */
export function laterWindow(view, numbers, step = STEP) {
    const end = Math.min(numbers.length, endOf(view, numbers) + step);
    const start = Math.max(indexFrom(numbers, view.first), end - LIMIT);
    return { first: numbers[start], last: end < numbers.length ? numbers[end - 1] : undefined };
}

/** A window that follows the newest message has grown: at the end what is too far above leaves, else what is below. */
export function trimmedWindow(view, numbers, isAtEnd) {
    const start = indexFrom(numbers, view.first);
    if (view.last !== undefined || numbers.length - start <= LIMIT) return view;
    return isAtEnd ? { first: numbers[numbers.length - LIMIT + TRIMMED], last: undefined } : { first: view.first, last: numbers[start + LIMIT - 1] };
}

/** How many of those that are held lie before the window, in it, and after it. */
export function partsOf(view, numbers) {
    const [start, end] = [indexFrom(numbers, view.first), endOf(view, numbers)];
    return { before: start, inside: end - start, after: numbers.length - end };
}

/** The messages in the window. `numbers` are theirs. */
export const inWindow = (view, messages, numbers) => messages.slice(indexFrom(numbers, view.first), endOf(view, numbers));

/** Whether a number lies between those of the window. */
export const isIn = ({ first, last }, number) => (first === undefined || number >= first) && (last === undefined || number <= last);

const endOf = (view, numbers) => view.last === undefined ? numbers.length : indexFrom(numbers, view.last + 1);

/** The index of the first number that is not below. */
function indexFrom(numbers, number) {
    if (number === undefined) return 0;
    let [low, high] = [0, numbers.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (numbers[middle] < number) low = middle + 1; else high = middle;
    }
    return low;
}
