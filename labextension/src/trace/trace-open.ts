import type { Kernel } from '@jupyterlab/services';
import type { Table } from 'apache-arrow';
import { writtenName } from '../../../kernel/apl/catalog/catalog-written.js';
import { quotedName, writtenText } from '../../../kernel/apl/syntax/tokens/quote.js';
import { tableOf } from '../../../kernel/result/ipc/codec.js';
import { type TraceReference, traceTitle } from '../../../kernel/result/trace/trace-reference.js';
import { type AddBelow, traceBelow } from '../cell/below.js';
import type { QueryShown } from '../cell/query-shown.js';
import { addGridStyle } from '../grid/grid-style.js';
import { spanTables, traceData } from './trace-data.js';
import { type LogChoice, type TraceConnections, TraceView } from './trace-view.js';

/** The connections of the output of a trace. */
export interface TracePlace extends Pick<TraceConnections, 'zone' | 'leave'> {
  kernel(): Promise<Kernel.IKernelConnection | undefined>;
  /** Bytes of the table of the same result, if the notebook has all of it. */
  readonly saved: Uint8Array | undefined;
  /** Adds cells below the output; undefined outside notebooks. */
  readonly add: AddBelow | undefined;
  readonly shown: QueryShown | undefined;
}

/** Resolves with the view of a trace; undefined if neither the kernel nor the notebook has all of its spans. */
export async function openTrace(
  reference: TraceReference,
  place: TracePlace,
): Promise<TraceView | undefined> {
  const tables = await spanTables(reference, () => place.kernel(), tableIn(place.saved));
  if (tables === undefined) return undefined;
  const data = traceData(tables);
  if (data.trace.nodes.length === 0) return undefined;
  // The fields of a span look like those of a row.
  addGridStyle();
  const { add, shown } = place;
  const canAdd = add !== undefined && shown !== undefined;
  return new TraceView(data, {
    title: traceTitle(reference.trace, reference.dataset),
    zone: place.zone,
    leave: () => place.leave(),
    logs: span => (canAdd ? logChoices(reference, span, shown, add) : []),
    linked: trace => (canAdd ? traceBelow(trace, shown, add) : undefined),
  });
}

function tableIn(bytes: Uint8Array | undefined): Table | undefined {
  return bytes === undefined ? undefined : tableOf(bytes);
}

function logChoices(
  { trace, logs }: TraceReference,
  span: string | undefined,
  { range }: QueryShown,
  add: AddBelow,
): readonly LogChoice[] {
  return logs
    .filter(each => span === undefined || each.span !== undefined)
    .map(each => {
      const conditions = [
        `${writtenName(each.trace)} == ${writtenText(trace)}`,
        ...(span === undefined || each.span === undefined
          ? []
          : [`${writtenName(each.span)} == ${writtenText(span)}`]),
      ];
      const query = [quotedName(each.dataset), `| where ${conditions.join(' and ')}`, '| sort by _time asc'];
      return {
        dataset: each.dataset,
        add: () => add([...range, ...query], 'The log lines are in the cell below.'),
      };
    });
}
