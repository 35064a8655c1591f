/**
 * Matches the parts of a regular expression (RE2) that can contain a literal parenthesis (quotations, escapes, classes), and the beginnings
 * of capturing groups: group 1 is the beginning, group 2 the group's name.
 */
export const partsOfPattern =
  /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|(\((?:\?P?<(\w+)>|(?!\?)))/gs;
