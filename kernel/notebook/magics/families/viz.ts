import { drawnKinds } from '../../../apl/operators/chart-kinds.js';
import type { ChartOptions } from '../../../apl/operators/drawing.js';
import { chartKinds } from '../../../apl/operators/drawing.js';
import { nearest } from '../../../apl/syntax/nearest.js';
import { present } from '../../../present.js';
import { askAnnotations } from '../../annotations/annotation-reader.js';
import { lastName } from '../../results/result-cache.js';
import { consoleWidthFor } from '../../session.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { MagicError } from '../magic-arguments.js';

/** The magic that redraws a cached result without a request: the last one, the cell's own, or one by name. */
export const vizMagics: readonly Magic[] = [
  {
    name: 'viz',
    usage: '%viz [KIND] [--from NAME] [--stack] [--log] [--unit UNIT] [--title TEXT]',
    options: [
      { name: 'from', value: 'NAME', summary: 'the result to draw (default: the last one)' },
      { name: 'stack', summary: 'stack the groups' },
      { name: 'log', summary: 'use a logarithmic axis for the values' },
      { name: 'unit', value: 'UNIT', summary: 'the unit of the measures, such as `ms`, `bytes` or `MiBy/s`' },
      { name: 'title', value: 'TEXT', summary: 'a title above the chart' },
    ],
    summary: 'draw the last result again without querying the service',
    help: [
      `KIND is one of ${drawnKinds.map(kind => `\`${kind}\``).join(', ')}; without it, the shape of the result determines the kind. A kind that does not fit the result is rejected, with a list of those that do.`,
      '',
      'In a cell with a query, you can write the same as comments at the top, which other tools ignore: `// @viz bar`, `// @stack`, `// @log`, `// @unit ms`. `// @viz none` shows only the table. `| render barchart with (kind=stacked)` at the end of a query works too, and is not sent to a service.',
      '',
      '    %viz area --stack --from errs',
    ].join('\n'),
    arity: [0, 1],
    effects: [],
    run: viz,
  },
];

async function viz(call: MagicCall, host: MagicHost): Promise<void> {
  const chart = requestOf(call);
  if (host.plan.queries.length === 0) return draw(call, host, chart);
  host.plan.afterRun.push(() => draw(call, host, chart));
}

function requestOf({ words, options }: MagicCall): ChartOptions {
  const [word] = words;
  const kind = chartKinds.find(each => each === word?.toLowerCase());
  if (kind === 'none')
    throw new MagicError(
      'there is nothing to draw',
      'To show only the table, write `// @viz none` above the query.',
    );
  if (word !== undefined && kind === undefined) {
    const near = nearest(word.toLowerCase(), chartKinds);
    const known = `The kinds are ${chartKinds.filter(each => each !== 'none').join(', ')}.`;
    throw new MagicError(
      `unknown chart type ${word}`,
      near === undefined ? known : `Did you mean \`${near}\`? ${known}`,
    );
  }
  const has = (name: string) => (options.has(name) ? true : undefined);
  return present({
    kind,
    stack: has('stack'),
    log: has('log'),
    unit: options.get('unit'),
    title: options.get('title'),
  });
}

async function draw(
  { options }: MagicCall,
  { session, io, plan }: MagicHost,
  chart: ChartOptions,
): Promise<void> {
  const name = options.get('from') ?? lastName;
  // Front ends identify a result by the id of its output.
  const cached = session.results.named(name) ?? session.results.withId(name);
  if (cached === undefined) throw nothing(name, session.results.names());
  if (!plan.retains)
    throw new MagicError('a chart includes data, but outputs may not', '`%retain on` allows it.');
  const { chartOf, chartOutput } = await import('../../../result/mime.js');
  const asked = { ...present({ annotations: plan.chart.annotations }), ...chart };
  const annotations = askAnnotations(session, cached.result, asked, io.signal);
  const drawn = await chartOf(cached.result, { chart: asked, ...present({ annotations }) });
  if (drawn === undefined)
    throw new MagicError(
      'the shape of the result has no default chart',
      'Name a kind, such as `%viz bar`; a chart needs numbers over times or names.',
    );
  if (drawn.kind === 'none')
    throw new MagicError(drawn.reason.replace(/\.$/, ''), '`%help viz` lists the kinds.');
  const how = { width: consoleWidthFor(session.options, io), svgOnly: session.options.svgOnly };
  io.display(chartOutput(drawn, cached.result, { resultId: cached.id, ...present(how) }));
}

function nothing(name: string, names: readonly string[]): MagicError {
  if (name === lastName) return new MagicError('there is no result to draw yet', 'Run a query first.');
  const known = names.length === 0 ? 'No result has a name yet.' : `Named results: ${names.join(', ')}.`;
  return new MagicError(`there is no result ${name}`, known);
}
