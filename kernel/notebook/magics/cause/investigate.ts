import type { WrittenCell } from '../../../apl/editor/editor-link.js';
import { escapeMarkdownLine, isolatedWords, oneLine, visible, withoutTokens } from '../../../text.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { say } from '../output.js';
import { type Case, caseOf, rangeText } from './case.js';
import { changesOf, commonOf, type Finding, mixOf, newLinesOf, saidOf, slowestOf } from './findings.js';
import { annotationsOf, deploymentsOf } from './near.js';

/** The magic that answers the first questions about an incident. */
export const investigateMagics: readonly Magic[] = [
  {
    name: 'investigate',
    usage: "%investigate TIME|RANGE ['DATASET']",
    options: [],
    summary:
      'answer the first questions about a time: what changed, and what the changed events have in common',
    help: [
      'Compares a range with the preceding one of the same length, always with the same questions: how many events there were, how many failed and how slow they were; what the failed or slow events have in common and what their log lines are, or, if neither increased, which values did; which log lines are new; which annotations and deployments are nearby; and which traces were slowest. The report begins with what stands out, or says that nothing does.',
      '',
      'In JupyterLab, adds cells below to continue from: for each answer a sentence, and its queries with a check of their figures. Another run replaces the cells it added, except those changed since. Other front ends print the queries.',
      '',
      'A single time covers 15 minutes on either side of it. Without a dataset, uses the one that the last result comes from. A difference stands out if it is at least 50% and more than five standard errors. A dataset contains deployments if it has `_time`, a field that names what was deployed (`service`, `app`) and one for its version (`version`, `release`, `tag`, `commit`).',
      '',
      "    %investigate 2026-01-26T15:09Z..2026-01-26T15:36Z ['sample-http-logs']",
    ].join('\n'),
    arity: [1, 4],
    effects: ['query'],
    run: investigate,
  },
];

async function investigate(call: MagicCall, host: MagicHost): Promise<void> {
  const asked = await caseOf(call, host);
  const { findings, cell, condition } = await changesOf(asked, host);
  const answers: Finding[] = [...findings];
  answers.push(condition === undefined ? await mixOf(asked, host) : await commonOf(asked, condition, host));
  if (condition !== undefined && asked.line !== undefined)
    answers.push(await saidOf(asked, asked.line, condition, host));
  if (asked.line !== undefined) answers.push(await newLinesOf(asked, asked.line, host));
  answers.push(await annotationsOf(asked, host), await deploymentsOf(asked, host));
  if (asked.trace !== undefined && asked.duration !== undefined)
    answers.push(await slowestOf(asked, asked.trace, asked.duration, host));
  host.io.signal.throwIfAborted();
  const data = {
    'text/markdown': report(asked, answers, escapeMarkdownLine),
    'text/plain': report(asked, answers, text => text),
  };
  host.io.display({ data, metadata: {} });
  const cells = cellsOf(asked, answers, cell);
  if (host.writeCells(cells)) return;
  const queries = cells.flatMap(({ kind, source }) => (kind === 'code' ? [`// %%\n${source}`] : []));
  say(host.io, `Continue with these cells:\n\n${queries.join('\n\n')}`);
}

type Written = (text: string) => string;

function titleOf(asked: Case): string {
  return `${asked.name}, ${rangeText(asked, 'own')}, compared with the preceding range`;
}

/** Formats a finding as one line, whatever its values contain. */
function lineOf({ text }: Finding, written: Written): string {
  return isolatedWords(written(visible(oneLine(text))));
}

function listOf(answers: readonly Finding[], standOut: boolean, written: Written): readonly string[] {
  const lines = answers.filter(({ standsOut }) => standsOut === standOut);
  if (lines.length === 0) return [];
  const list = lines.map(each => `- ${lineOf(each, written)}`).join('\n');
  return [`${standOut ? 'Stands out' : 'Does not stand out'}:\n\n${list}`];
}

function report(asked: Case, answers: readonly Finding[], written: Written): string {
  const out = listOf(answers, true, written);
  return [
    written(visible(oneLine(titleOf(asked)))),
    ...(out.length === 0 ? ['Nothing stands out.'] : out),
    ...listOf(answers, false, written),
  ].join('\n\n');
}

/** Returns the cells for further analysis: the figures of both ranges, and a section for each finding that has any. */
function cellsOf(asked: Case, answers: readonly Finding[], figures: string): readonly WrittenCell[] {
  const out = answers.filter(({ standsOut }) => standsOut).length;
  const count = `${out} of ${answers.length} answers ${out === 1 ? 'stands' : 'stand'} out.`;
  const head = [
    `## ${escapeMarkdownLine(visible(oneLine(titleOf(asked))))}`,
    out === 0 ? 'Nothing stands out.' : count,
    ...listOf(answers, false, escapeMarkdownLine),
  ];
  const sections = answers
    .filter(({ standsOut, cells }) => standsOut || cells.length > 0)
    .flatMap(answer => [
      prose(`### ${answer.title}\n\n${lineOf(answer, escapeMarkdownLine)}`),
      ...answer.cells.map(code),
    ]);
  return [prose(head.join('\n\n')), code(figures), ...sections];
}

function prose(source: string): WrittenCell {
  return { kind: 'markdown', source: withoutTokens(source) };
}

function code(source: string): WrittenCell {
  return { kind: 'code', source: withoutTokens(source) };
}
