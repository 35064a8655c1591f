import type { Asking, BucketClient, ObjectEntry } from './client.js';
import { belowDirectory, type Calendar, type Span, spanOf } from './directories.js';

/** An object and the times that its directories say that it holds. */
export interface PlacedObject extends ObjectEntry {
  readonly span?: Span;
}

/** A directory of a bucket, which is listed when it is needed. */
export class Directory {
  readonly prefix: string;
  readonly span: Span | undefined;
  readonly #calendar: Calendar;
  #below:
    | { readonly directories: readonly Directory[]; readonly objects: readonly PlacedObject[] }
    | undefined;

  constructor(prefix: string, calendar: Calendar = []) {
    this.prefix = prefix;
    this.#calendar = calendar;
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
        .map(prefix => new Directory(prefix, this.#into([prefix.slice(this.prefix.length, -1)]))),
      objects: objects.flatMap(object => {
        const names = object.key.slice(this.prefix.length).split('/');
        if (object.bytes === 0 || !names.every(isShown)) return [];
        const span = spanOf(this.#into(names.slice(0, -1)));
        return [span === undefined ? object : { ...object, span }];
      }),
    };
  }

  #into(names: readonly string[]): Calendar {
    return names.reduce<Calendar>((above, name) => belowDirectory(above, name) ?? above, this.#calendar);
  }
}

/** A year, a month and a day. */
const dayParts = 3;

/** What other programs write beside the data begins so, as `_SUCCESS` and `_temporary/` do. */
function isShown(name: string): boolean {
  return name !== '' && !/^[._]/.test(name);
}

function mayHold(span: Span | undefined, times: Span | undefined): boolean {
  return (
    span === undefined || times === undefined || (span.endNs > times.startNs && span.startNs < times.endNs)
  );
}
