import { readParamLine, splitLiterals } from '../../../apl/syntax/syntax-parameters.js';
import { writtenText } from '../../../apl/syntax/tokens/quote.js';
import { present } from '../../../present.js';
import type { Provenance, QueryResult } from '../../../result/result.js';
import { plural } from '../../../text.js';
import { type Parameter, type ParameterValue, readParameter } from '../../notebook-parameters.js';
import { lastName } from '../../results/result-cache.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { MagicError, usageError } from '../magic-arguments.js';
import { say, tableOutput, textOutput } from '../output.js';

/** The magics about parameters, in help order. */
export const parameterMagics: readonly Magic[] = [
  {
    name: 'param',
    usage: '%param NAME = LITERAL [NAME = LITERAL …] [--choices LITERAL,…] [--prompt]',
    options: [
      { name: 'choices', value: 'LITERAL,…', summary: 'the allowed values, now and later' },
      {
        name: 'prompt',
        summary: 'prompt for the value; if nothing is typed, the one written here is used',
      },
    ],
    summary: 'set a parameter of the notebook',
    help: [
      'A query below that uses the parameter receives its value in the `variables` of the request, never in its text, so a value cannot change what the query does. A parameter overrides the default of `declare query_parameters`, which also applies to the whole notebook.',
      '',
      '- `%param service="checkout" minutes=30`',
      '- `%param window = 5m`, `%param start = datetime(2026-01-01)`',
      '- `%param uris = ["/cart", "/pay"]`, for `where uri in (uris)`',
      '- `%param owners = datatable(host: string, team: string)["a1", "core"]`, for `join (owners) on host`',
      '- `%param env = "prod" --choices "prod", "staging"`',
      '',
      'A name that a query defines with `let`, or a field of the same name, hides the parameter. `let` applies to the queries of its own cell.',
    ].join('\n'),
    arity: [0, Number.POSITIVE_INFINITY],
    effects: [],
    verbatim: true,
    run: param,
  },
  {
    name: 'params',
    usage: '%params',
    options: [],
    summary: 'list the parameters of the notebook',
    help: 'Includes the parameters named so far by `declare query_parameters` or `%param`, with their types, values and choices.',
    arity: [0, 0],
    effects: [],
    run: params,
  },
  {
    name: 'show-query',
    usage: '%show-query',
    options: [],
    summary: 'show the request as sent: the text of the query, its variables, options and time range',
    help: 'Appears below the results of its cell; in a cell without a query, shows the last one that ran.',
    arity: [0, 0],
    effects: [],
    run: showQuery,
  },
];

/** Sets all parameters of a line or none, prompting for their values if the line requests it. */
async function param({ raw, magic }: MagicCall, { session, io }: MagicHost): Promise<void> {
  const { assignments, choices, prompts, stray } = readParamLine(raw);
  if (stray !== '') throw new MagicError(`%param: ${stray} is not an assignment`, 'Write NAME = LITERAL.');
  if (assignments.length === 0) throw usageError(magic, 'give a name and a value');
  if (choices !== undefined && assignments.length > 1)
    throw usageError(magic, '--choices is for one parameter');
  const allowed = choices === undefined ? undefined : choiceValues(assignments[0]?.name ?? '', choices);
  const given: [name: string, parameter: Parameter][] = [];
  for (const { name, text } of assignments) {
    const written = text === undefined ? session.parameters.get(name) : readParameter(name, text);
    if (written === undefined && !prompts) throw usageError(magic, `${name} has no value: write ${name} = …`);
    if (written?.kind === 'table' && allowed !== undefined) throw usageError(magic, 'a table has no choices');
    const parameter = prompts ? await asked(name, written, allowed, io) : written;
    if (parameter !== undefined)
      given.push([
        name,
        parameter.kind === 'table' ? parameter : { ...parameter, ...present({ choices: allowed }) },
      ]);
  }
  session.parameters.set(given);
}

function choiceValues(name: string, text: string): readonly ParameterValue[] {
  return splitLiterals(text).map(part => {
    const each = readParameter(name, part);
    if (each.kind === 'value') return each.value;
    throw new MagicError('%param: a table cannot be a choice');
  });
}

/** Returns the parameter that the user types, or the one in the line if nothing is typed. */
async function asked(
  name: string,
  written: Parameter | undefined,
  allowed: readonly ParameterValue[] | undefined,
  io: MagicHost['io'],
): Promise<Parameter> {
  if (!io.allowStdin) {
    if (written !== undefined) return written;
    throw new MagicError(`%param: this session cannot prompt for ${name}`, `Write %param ${name} = LITERAL.`);
  }
  const choices =
    allowed === undefined ? '' : ` (${allowed.map(({ json }) => JSON.stringify(json)).join(', ')})`;
  const fallback = written === undefined ? '' : ` [${written.text}]`;
  const typed = (await io.input(`${name}${choices}${fallback}: `, false)).trim();
  if (typed === '' && written !== undefined) return written;
  const isText = written === undefined || (written.kind === 'value' && written.value.type === 'string');
  return readParameter(name, isText && !/^["'].*["']$/.test(typed) ? writtenText(typed) : typed);
}

function params(_: MagicCall, { session, io }: MagicHost): void {
  const rows = session.parameters.rows();
  if (rows.length === 0) say(io, 'No parameters. `%param NAME = LITERAL` sets one.');
  else
    io.display(
      tableOutput(['parameter', 'type', 'value', 'choices'], rows, plural(rows.length, 'parameter')),
    );
}

function showQuery({ magic }: MagicCall, { session, io, plan }: MagicHost): void {
  const show = (result: QueryResult | undefined) => {
    if (result !== undefined) io.display(textOutput(sentText(result.provenance)));
  };
  if (plan.queries.length > 0) {
    plan.afterRun.push(async results => {
      for (const { result } of results) show(result);
    });
    return;
  }
  const last = session.results.named(lastName)?.result;
  if (last === undefined) throw usageError(magic, 'no query has run yet');
  show(last);
}

function sentText({ query, variables, options, startTime, endTime, profile }: Provenance): string {
  const beside = Object.entries({ variables, options }).flatMap(([name, members = {}]) =>
    Object.keys(members).length === 0 ? [] : [`${name}: ${JSON.stringify(members)}`],
  );
  return [query, '', ...beside, `range: ${startTime} to ${endTime}`, `profile: ${profile}`].join('\n');
}
