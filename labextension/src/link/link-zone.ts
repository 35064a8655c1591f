/** The zone in which a notebook shows times, stored in its metadata: grids, charts, headings and the toolbar follow it. */
import type { INotebookModel } from '@jupyterlab/notebook';

/** UTC, or the browser's own time zone. */
export type Zone = 'utc' | 'local';

/** The zone of a document, or of a single output outside of one. */
export interface ZoneSetting {
  readonly zone: Zone;
  change(zone: Zone): void;
  /** Calls `hear` whenever the zone changes; returns a function that stops it. */
  follow(hear: () => void): () => void;
}

/** Returns the zone of a notebook. */
export function zoneOf(model: Pick<INotebookModel, 'getMetadata'> | null): Zone {
  return partOf(model).zone === 'local' ? 'local' : 'utc';
}

/** Changes the zone of a notebook. */
export function changeZone(model: INotebookModel, zone: Zone): void {
  const { zone: _, ...others } = partOf(model);
  const part = zone === 'utc' ? others : { ...others, zone };
  if (Object.keys(part).length === 0) model.deleteMetadata(KEY);
  else model.setMetadata(KEY, part);
}

/** Returns the zone of a notebook as a setting. */
export function zoneOfNotebook(model: INotebookModel): ZoneSetting {
  return {
    get zone() {
      return zoneOf(model);
    },
    change: zone => changeZone(model, zone),
    follow: hear => {
      let last = zoneOf(model);
      const look = (): void => {
        const now = zoneOf(model);
        if (now === last) return;
        last = now;
        hear();
      };
      model.metadataChanged.connect(look);
      return () => void model.metadataChanged.disconnect(look);
    },
  };
}

/** Returns the zone of an output outside notebooks. */
export function zoneOfOne(): ZoneSetting {
  let shown: Zone = 'utc';
  const hearers = new Set<() => void>();
  return {
    get zone() {
      return shown;
    },
    change: zone => {
      shown = zone;
      for (const hear of hearers) hear();
    },
    follow: hear => {
      hearers.add(hear);
      return () => void hearers.delete(hear);
    },
  };
}

/** Returns an RFC 3339 time in a zone, with all of its digits: `2026-11-20T10:00:00.123456789+01:00`. */
export function timeIn(exact: string, zone: Zone): string {
  if (zone === 'utc') return exact;
  const at = new Date(exact);
  const offset = -at.getTimezoneOffset();
  if (Number.isNaN(offset)) return exact;
  const shifted = new Date(at.getTime() + offset * 60_000).toISOString().slice(0, 19);
  const fraction = /\.\d+/.exec(exact)?.[0] ?? '';
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map(part =>
    String(part).padStart(2, '0'),
  );
  return `${shifted}${fraction}${offset < 0 ? '-' : '+'}${hours}:${minutes}`;
}

/** Returns a string with its RFC 3339 times converted to a zone. */
export function timesIn(text: string, zone: Zone): string {
  return text.replace(EXACT, time => timeIn(time, zone));
}

/** Returns the name of a zone at a time: `UTC`, `UTC+05:30`. */
export function clockName(exact: string, zone: Zone): string {
  return zone === 'utc' ? 'UTC' : `UTC${timeIn(exact, zone).slice(-6)}`;
}

const KEY = 'apl';
const EXACT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** Returns this extension's part of a notebook's metadata; anything invalid is left out. */
function partOf(model: Pick<INotebookModel, 'getMetadata'> | null): Readonly<Record<string, unknown>> {
  const part: unknown = model?.getMetadata(KEY);
  return typeof part === 'object' && part !== null ? (part as Readonly<Record<string, unknown>>) : {};
}
