/** Prints, for pytest, the grammar, and texts with their tokens as JupyterLab colors them. */
import { classes, lexicalGrammar } from '../../kernel/apl/editor/colors/lexical.js';
import { catalogExamples, exampleCells, tokensOf } from '../apl/editor/colors/tokens.js';

const withTokens = (text: string) => ({
  text,
  tokens: tokensOf(text).map(({ from, to, is }) => [from, to, is, classes[is].pygments]),
});
console.log(
  JSON.stringify({
    grammar: lexicalGrammar(),
    examples: exampleCells().map(withTokens),
    catalog: catalogExamples().map(withTokens),
  }),
);
