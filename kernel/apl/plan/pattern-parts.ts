/**
 * Finds the parts of a regular expression (RE2) in which a parenthesis may stand: quotations, escapes and classes, where it is none,
 * and the beginnings of capturing groups, which are the first group of the match, and their names the second.
 */
export const partsOfPattern =
  /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|(\((?:\?P?<(\w+)>|(?!\?)))/gs;
