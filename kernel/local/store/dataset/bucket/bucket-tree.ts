import { present } from '../../../../present.js';
import type { Asking, BucketClient, ObjectEntry } from './client/bucket-client.js';
import { belowDirectory, type Calendar, type Span, spanOf } from './directories.js';

/** An object and the times that its directories say that it holds. */
export interface PlacedObject extends ObjectEntry {
  readonly span?: Span;
  /** The values in the names of directories such as `region=eu`, but for those that name times. */
  readonly partitions: ReadonlyMap<string, string | null>;
}

/** A directory of a bucket, which is listed when it is needed. */
export class Directory {
  readonly prefix: string;
  readonly span: Span | undefined;
  readonly #calendar: Calendar;
  readonly #partitions: ReadonlyMap<string, string | null>;
  #below:
    | { readonly directories: readonly Directory[]; readonly objects: readonly PlacedObject[] }
    | undefined;

  constructor(
    prefix: string,
    calendar: Calendar = [],
    partitions: ReadonlyMap<string, string | null> = new Map(),
  ) {
    this.prefix = prefix;
    this.#calendar = calendar;
    this.#partitions = partitions;
    this.span = spanOf(calendar);
  }

  /** The directories at and below this one that may hold times of a span and are not listed yet. */
  unlisted(times: Span | undefined): readonly Directory[] {
    if (!mayHold(this.span, times)) return [];
    return this.#below === undefined ? [this] : this.#below.directories.flatMap(each => each.unlisted(times));
  }

  /** The objects that were listed and may hold times of a span. */
  objects(times: Span | undefined): readonly PlacedObject[] {
    if (this.#below === undefined || !mayHold(this.span, times)) return [];
    const { directories, objects } = this.#below;
    const own = objects.filter(({ span }) => mayHold(span, times));
    return [...own, ...directories.flatMap(each => each.objects(times))];
  }

  /** Lists it: a day whole, anything above by its directories, so that days which are not asked for are not listed. */
  async list(client: BucketClient, asking: Asking): Promise<void> {
    const isDay = this.#calendar.length >= dayParts;
    const { objects, directories } = await client.list(this.prefix, isDay, asking);
    this.#below = {
      directories: directories
        .filter(prefix => isShown(prefix.slice(this.prefix.length, -1)))
        .map(prefix => {
          const { calendar, partitions } = this.#into([prefix.slice(this.prefix.length, -1)]);
          return new Directory(prefix, calendar, partitions);
        }),
      objects: objects.flatMap(object => {
        const names = object.key.slice(this.prefix.length).split('/');
        if (object.bytes === 0 || !names.every(isShown)) return [];
        const { calendar, partitions } = this.#into(names.slice(0, -1));
        return [{ ...object, partitions, ...present({ span: spanOf(calendar) }) }];
      }),
    };
  }

  /** What is known below directories of these names. */
  #into(names: readonly string[]) {
    let calendar = this.#calendar;
    const partitions = new Map(this.#partitions);
    for (const name of names) {
      const below = belowDirectory(calendar, name);
      calendar = below ?? calendar;
      const [, key, value = ''] = /^([^=]+)=(.*)$/s.exec(name) ?? [];
      if (below === undefined && key !== undefined)
        partitions.set(decoded(key), value === noValue ? null : decoded(value));
    }
    return { calendar, partitions };
  }
}

/** What writers of Hive's layout put for null. */
const noValue = '__HIVE_DEFAULT_PARTITION__';

/** Writers encode what a name of a directory cannot hold as in addresses. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A year, a month and a day. */
const dayParts = 3;

/** Whether a name is not one of what other programs write beside the data, such as `_SUCCESS` and `_temporary/`. */
export function isShown(name: string): boolean {
  return name !== '' && !/^[._]/.test(name);
}

function mayHold(span: Span | undefined, times: Span | undefined): boolean {
  return (
    span === undefined || times === undefined || (span.endNs > times.startNs && span.startNs < times.endNs)
  );
}
