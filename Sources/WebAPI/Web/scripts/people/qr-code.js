// QR codes (ISO/IEC 18004): texts of up to 213 bytes, in byte mode with error correction M, in the versions 1 to 10.

/** By version from 1 on: error correction bytes of a block, blocks and their data bytes, and alignment patterns. */
const versions = [
    [10, [[1, 16]], []], [16, [[1, 28]], [6, 18]], [26, [[1, 44]], [6, 22]], [18, [[2, 32]], [6, 26]], [24, [[2, 43]], [6, 30]],
    [16, [[4, 27]], [6, 34]], [18, [[4, 31]], [6, 22, 38]], [22, [[2, 38], [2, 39]], [6, 24, 42]], [22, [[3, 36], [2, 37]], [6, 26, 46]],
    [26, [[4, 43], [1, 44]], [6, 28, 50]],
];

/** Which modules a mask inverts. */
const masks = [
    (x, y) => (x + y) % 2 === 0, (x, y) => y % 2 === 0, (x) => x % 3 === 0, (x, y) => (x + y) % 3 === 0,
    (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0, (x, y) => x * y % 2 + x * y % 3 === 0,
    (x, y) => (x * y % 2 + x * y % 3) % 2 === 0, (x, y) => ((x + y) % 2 + x * y % 3) % 2 === 0,
];

/** The rows of a code, each a list of whether a module is dark. Throws a RangeError where the text is too long. */
export function qrCode(text) {
    const bytes = new TextEncoder().encode(text);
    const version = versions.findIndex((_, index) => bytes.length <= capacity(index + 1)) + 1;
    if (version === 0) throw new RangeError(`The text has ${bytes.length} bytes: at most ${capacity(versions.length)} fit into a code.`);
    const codewords = interleaved(version, dataCodewords(version, bytes));
    const all = masks.map((_, mask) => drawn(version, codewords, mask));
    const penalties = all.map(penalty);
    return all[penalties.indexOf(Math.min(...penalties))];
}

const blocksOf = (version) => versions[version - 1][1].flatMap(([count, size]) => Array.from({ length: count }, () => size));
const dataLength = (version) => blocksOf(version).reduce((sum, size) => sum + size, 0);
const countBits = (version) => version < 10 ? 8 : 16;
const capacity = (version) => Math.floor((dataLength(version) * 8 - 4 - countBits(version)) / 8);

// Codewords

function dataCodewords(version, bytes) {
    const bits = [];
    const put = (value, length) => { for (let bit = length - 1; bit >= 0; bit -= 1) bits.push(value >> bit & 1); };
    put(0b0100, 4);
    put(bytes.length, countBits(version));
    for (const one of bytes) put(one, 8);
    const length = dataLength(version) * 8;
    put(0, Math.min(4, length - bits.length));
    put(0, (8 - bits.length % 8) % 8);
    for (let filler = 0xec; bits.length < length; filler ^= 0xec ^ 0x11) put(filler, 8);
    return Array.from({ length: length / 8 }, (_, index) => bits.slice(8 * index, 8 * index + 8).reduce((value, bit) => value << 1 | bit, 0));
}

/** The codewords in the order in which they are drawn: the first of each block, the second of each, and so on. */
function interleaved(version, data) {
    const [correction] = versions[version - 1];
    const divisor = generator(correction);
    let from = 0;
    const blocks = blocksOf(version).map((size) => data.slice(from, from += size));
    const corrections = blocks.map((block) => remainder(block, divisor));
    const longest = Math.max(...blocks.map((block) => block.length));
    const found = [];
    for (let index = 0; index < longest; index += 1) for (const block of blocks) if (index < block.length) found.push(block[index]);
    for (let index = 0; index < correction; index += 1) for (const block of corrections) found.push(block[index]);
    return found;
}

// Reed-Solomon codes over GF(256) with the polynomial 0x11d

function multiply(one, other) {
    let product = 0;
    for (let bit = 7; bit >= 0; bit -= 1) {
        product = product << 1 ^ (product >> 7) * 0x11d;
        product ^= (other >> bit & 1) * one;
    }
    return product;
}

function generator(degree) {
    const found = [...Array(degree - 1).fill(0), 1];
    let root = 1;
    for (let turn = 0; turn < degree; turn += 1) {
        for (let index = 0; index < degree; index += 1) found[index] = multiply(found[index], root) ^ (found[index + 1] ?? 0);
        root = multiply(root, 2);
    }
    return found;
}

function remainder(data, divisor) {
    const found = divisor.map(() => 0);
    for (const one of data) {
        const factor = one ^ found.shift();
        found.push(0);
        divisor.forEach((coefficient, index) => { found[index] ^= multiply(coefficient, factor); });
    }
    return found;
}

// Modules

function drawn(version, codewords, mask) {
    const size = 17 + 4 * version;
    const rows = Array.from({ length: size }, () => Array(size).fill(undefined));
    const set = (x, y, isDark) => { if (x >= 0 && y >= 0 && x < size && y < size) rows[y][x] = Boolean(isDark); };
    drawPatterns(version, size, set, rows);
    drawFormat(size, mask, set);
    if (version >= 7) drawVersion(version, size, set);
    const isData = rows.map((row) => row.map((module) => module === undefined));
    let index = 0;
    // Columns of two from the right, upwards and downwards by turns, without the vertical timing pattern.
    for (let right = size - 1; right >= 1; right -= 2) {
        if (right === 6) right = 5;
        const isUpwards = (right + 1 & 2) === 0;
        for (let step = 0; step < size; step += 1) {
            const y = isUpwards ? size - 1 - step : step;
            for (const x of [right, right - 1]) {
                if (!isData[y][x]) continue;
                const bit = codewords[index >> 3] >> 7 - (index & 7) & 1;
                rows[y][x] = Boolean(bit) !== masks[mask](x, y);
                index += 1;
            }
        }
    }
    return rows;
}

function drawPatterns(version, size, set, rows) {
    for (let index = 0; index < size; index += 1) {
        set(6, index, index % 2 === 0);
        set(index, 6, index % 2 === 0);
    }
    for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) square(x, y, 4, (distance) => distance !== 2 && distance !== 4, set);
    const centres = versions[version - 1][2];
    for (const x of centres) for (const y of centres) {
        const isCorner = x === 6 && y === 6 || x === 6 && y === size - 7 || x === size - 7 && y === 6;
        if (!isCorner) square(x, y, 2, (distance) => distance !== 1, set);
    }
    rows[size - 8][8] = true;
}

function square(centreX, centreY, radius, isDark, set) {
    for (let dy = -radius; dy <= radius; dy += 1) {
        for (let dx = -radius; dx <= radius; dx += 1) set(centreX + dx, centreY + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
    }
}

/** The level of error correction, M, and the mask: twice, with a BCH code. */
function drawFormat(size, mask, set) {
    const bits = (mask << 10 | bch(mask, 10, 0x537)) ^ 0x5412;
    const bit = (index) => bits >> index & 1;
    for (let index = 0; index <= 5; index += 1) set(8, index, bit(index));
    set(8, 7, bit(6));
    set(8, 8, bit(7));
    set(7, 8, bit(8));
    for (let index = 9; index < 15; index += 1) set(14 - index, 8, bit(index));
    for (let index = 0; index < 8; index += 1) set(size - 1 - index, 8, bit(index));
    for (let index = 8; index < 15; index += 1) set(8, size - 15 + index, bit(index));
}

function drawVersion(version, size, set) {
    const bits = version << 12 | bch(version, 12, 0x1f25);
    for (let index = 0; index < 18; index += 1) {
        const [near, far] = [Math.floor(index / 3), size - 11 + index % 3];
        set(far, near, bits >> index & 1);
        set(near, far, bits >> index & 1);
    }
}

function bch(value, degree, polynomial) {
    let rest = value;
    for (let turn = 0; turn < degree; turn += 1) rest = rest << 1 ^ (rest >> degree - 1) * polynomial;
    return rest;
}

// Choosing a mask

/** How hard a code is to read: long runs, squares, what looks like a finder pattern, and an uneven balance. */
function penalty(rows) {
    const size = rows.length;
    const columns = rows.map((_, x) => rows.map((row) => row[x]));
    let found = 0;
    for (const line of [...rows, ...columns]) {
        const text = line.map(Number).join("");
        for (const [run] of text.matchAll(/0{5,}|1{5,}/g)) found += run.length - 2;
        for (const pattern of ["10111010000", "00001011101"]) {
            for (let index = text.indexOf(pattern); index !== -1; index = text.indexOf(pattern, index + 1)) found += 40;
        }
    }
    for (let y = 1; y < size; y += 1) {
        for (let x = 1; x < size; x += 1) {
            const isDark = rows[y][x];
            if (rows[y - 1][x] === isDark && rows[y][x - 1] === isDark && rows[y - 1][x - 1] === isDark) found += 3;
        }
    }
    const dark = rows.flat().filter(Boolean).length;
    return found + 10 * Math.floor(Math.abs(dark * 20 - size * size * 10) / (size * size));
}
