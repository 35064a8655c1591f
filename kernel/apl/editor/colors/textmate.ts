import { classes, type LexicalRule, lexicalRules, type TokenClass } from './lexical.js';

/** Root scope of the language in TextMate grammars. */
export const textMateScope = 'source.axiom-apl';

/** Returns the scope of a token class. */
export function scopeOf(tokenClass: TokenClass): string {
  return `${classes[tokenClass].scope}.axiom-apl`;
}

/** Returns a TextMate grammar, for editors and web pages. */
export function textMateGrammar(): Readonly<Record<string, unknown>> {
  return {
    name: 'axiom-apl',
    displayName: 'APL (Axiom)',
    aliases: ['apl'],
    scopeName: textMateScope,
    fileTypes: ['apl'],
    patterns: lexicalRules.map(patternOf),
  };
}

/** Returns a TextMate grammar to inject into Markdown: blocks fenced with three backquotes and `axiom-apl`. */
export function markdownGrammar(): Readonly<Record<string, unknown>> {
  return {
    scopeName: 'markdown.axiom-apl',
    injectionSelector: 'L:text.html.markdown',
    patterns: [
      {
        begin: '^(\\s*)(`{3,}|~{3,})\\s*(?:axiom-apl)(?:\\s[^`]*)?$',
        end: '^\\1\\2\\s*$',
        contentName: 'meta.embedded.block.axiom-apl',
        patterns: [{ include: textMateScope }],
      },
    ],
  };
}

function patternOf({ match, end, is, groups }: LexicalRule): Readonly<Record<string, unknown>> {
  const name = is === undefined ? {} : { name: scopeOf(is) };
  if (end !== undefined) return { begin: match, end, ...name };
  if (groups === undefined) return { match, ...name };
  const captures = groups.flatMap((each, index) =>
    each === undefined ? [] : [[String(index + 1), { name: scopeOf(each) }] as const],
  );
  return { match, captures: Object.fromEntries(captures) };
}
