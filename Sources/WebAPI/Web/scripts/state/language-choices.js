// The languages that a text can be in, for its author to choose from.

import { folded } from "./mentions.js";

/** Those that many people write in, or that the server tells apart: it takes any tag. */
const CODES = [
    "af,am,ar,as,az,be,bg,bn,bs,ca,ceb,ckb,co,cs,cy,da,de,el,en,eo,es,et,eu,fa,fi,fil,fo,fr,fy,ga,gd,gl,gn,gu,ha,haw,he,hi",
    "hmn,hr,ht,hu,hy,id,ig,is,it,ja,jv,ka,kk,km,kn,ko,ku,ky,la,lb,ln,lo,lt,lv,mg,mi,mk,ml,mn,mr,ms,mt,my,nb,ne,nl,nn,ny,om,or,pa,pl,ps",
    "pt,qu,ro,ru,rw,sa,sd,si,sk,sl,sm,sn,so,sq,sr,st,su,sv,sw,ta,te,tg,th,ti,tk,tr,tt,ug,uk,ur,uz,vi,wo,xh,yi,yo,zh-Hans,zh-Hant,zu",
].join().split(",");

/**
 * `{code, name, words}` of each: the likely ones first, in their order, then all others by their names. `nameOf(code)` is the name
 * in the language of the page, and `englishOf(code)` another by which it is found.
 */
export function languageChoices(likely, nameOf, englishOf, compare) {
    const made = (code) => ({ code, name: nameOf(code), words: [nameOf(code), englishOf(code), code].map(folded) });
    const first = [...new Set(likely)];
    const others = CODES.filter((code) => !first.includes(code)).map(made);
    return [...first.map(made), ...others.sort((one, other) => compare(one.name, other.name))];
}

/** Those that a query finds: by the beginning of a name or of a word in it, or by the tag. */
export function foundLanguages(choices, query) {
    const wanted = folded(query.trim());
    return wanted === "" ? choices : choices.filter(({ words }) => words.some((one) => one.startsWith(wanted) || one.includes(` ${wanted}`)));
}
