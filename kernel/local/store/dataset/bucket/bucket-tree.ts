import { present } from '../../../../present.js';
import type { Asking, BucketClient, ObjectEntry } from './client/bucket-client.js';
import { belowDirectory, type Calendar, type Span, spanOf } from './directories.js';

/** An object and the time span that its directories name. */
export interface PlacedObject extends ObjectEntry {
  readonly span?: Span;
  /** Values in directory names such as `region=eu`, except those that name times. */
  readonly partitions: ReadonlyMap<string, string | null>;
}

/** A directory of a bucket, listed on demand. */
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

  /** Returns the unlisted directories at or below this one that may contain times of a span. */
  unlisted(times: Span | undefined): readonly Directory[] {
    if (!mayHold(this.span, times)) return [];
    return this.#below === undefined ? [this] : this.#below.directories.flatMap(each => each.unlisted(times));
  }

  /** Returns the listed objects that may contain times of a span. */
  objects(times: Span | undefined): readonly PlacedObject[] {
    if (this.#below === undefined || !mayHold(this.span, times)) return [];
    const { directories, objects } = this.#below;
    const own = objects.filter(({ span }) => mayHold(span, times));
    return [...own, ...directories.flatMap(each => each.objects(times))];
  }

  /** Lists the directory: a day recursively, anything above it one level at a time, so days outside the query are not listed. */
  async list(client: BucketClient, asking: Asking): Promise<void> {
    const isDay = this.#calendar.length >= dayParts;
    const { objects, directories } = await client.list(this.prefix, isDay, asking);
    this.#below = {
      directories: directories
        .filter(prefix => !hidden.test(prefix.slice(this.prefix.length)))
        .map(prefix => {
          const { calendar, partitions } = this.#into([prefix.slice(this.prefix.length, -1)]);
          return new Directory(prefix, calendar, partitions);
        }),
      objects: objects.flatMap(object => {
        const key = object.key.slice(this.prefix.length);
        if (object.bytes === 0 || !isShown(key)) return [];
        const { calendar, partitions } = this.#into(key.split('/').slice(0, -1));
        return [{ ...object, partitions, ...present({ span: spanOf(calendar) }) }];
      }),
    };
  }

  /** Returns the calendar and partitions below directories with these names. */
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

/** Value that writers of the Hive layout use for null. */
const noValue = '__HIVE_DEFAULT_PARTITION__';

/** Decodes a directory name: writers percent-encode characters that it cannot contain. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Year, month and day. */
const dayParts = 3;

/** A name or directory that programs write beside the data, such as `_SUCCESS` or `_temporary/`. */
const hidden = /(?:^|\/)[._]/;

/**
 * Whether an object, by its key below the address, is neither hidden nor a marker of a directory. A directory may have an empty name, as in
 * `app//a.parquet`.
 */
export function isShown(key: string): boolean {
  return key !== '' && !key.endsWith('/') && !hidden.test(key);
}

function mayHold(span: Span | undefined, times: Span | undefined): boolean {
  return (
    span === undefined || times === undefined || (span.endNs > times.startNs && span.startNs < times.endNs)
  );
}
