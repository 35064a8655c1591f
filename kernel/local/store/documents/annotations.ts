import type { Annotation, AnnotationContent } from '../../../api/wire.js';
import { parseTime } from '../../../time.js';
import { inDataDir } from '../../data-layout.js';
import { type AnnotationChange, changed, readWholeAnnotation } from './contents.js';
import { Documents, type Listing } from './documents.js';

/** Filter for annotations: any of the datasets, and an overlap with the range from `start` to before `end`, in nanoseconds since 1970. */
export interface AnnotationFilter {
  readonly datasets?: readonly string[];
  readonly start?: bigint;
  readonly end?: bigint;
}

/** The annotations under `<dataDir>/annotations`. */
export class AnnotationStore {
  readonly #annotations: Documents<AnnotationContent>;

  constructor(dataDir: string) {
    this.#annotations = new Documents<AnnotationContent>(inDataDir(dataDir, 'annotations'), {
      name: 'annotation',
      names: 'annotations',
      prefix: 'ann_',
      read: readWholeAnnotation,
      deletedBy: '%annotate --delete',
      unknown: {
        code: 'annotation-not-found',
        hint: '`%annotate --list` lists the annotations in the time range.',
      },
      unreadable: 'annotation-unreadable',
    });
  }

  /** Returns the annotations that pass the filter, sorted by time. */
  async list(filter: AnnotationFilter): Promise<Listing<AnnotationContent>> {
    const inOrder = (a: Annotation, b: Annotation) =>
      compare(timeOf(a.time), timeOf(b.time)) || compare(a.id, b.id);
    const { documents, damages } = await this.#annotations.list();
    return { documents: documents.filter(each => passes(each, filter)).sort(inOrder), damages };
  }

  /** Stores an annotation under a new id. */
  create(content: AnnotationContent): Promise<Annotation> {
    return this.#annotations.create(content);
  }

  /** Returns an annotation; throws LocalError (`not-found`) if it does not exist. */
  get(id: string): Promise<Annotation> {
    return this.#annotations.get(id);
  }

  /**
   * Changes some members of an annotation; a change with all required members replaces an unreadable one. Throws LocalError (`not-found`)
   * if it does not exist, and any error of `check` about the result.
   */
  change(
    id: string,
    change: AnnotationChange,
    check: (content: AnnotationContent) => void,
  ): Promise<Annotation> {
    return this.#annotations.replace(id, before => {
      const basis = before ?? wholeOf(change);
      if (basis === undefined) return undefined;
      const content = changed(basis, change);
      check(content);
      return content;
    });
  }

  /** Deletes an annotation; throws LocalError (`not-found`) if it does not exist. */
  remove(id: string): Promise<void> {
    return this.#annotations.remove(id);
  }
}

/** Returns the required members, undefined if a change lacks one. */
function wholeOf({ datasets, time, type }: AnnotationChange): AnnotationContent | undefined {
  return datasets && time && type ? { datasets, time, type } : undefined;
}

/** Whether an annotation passes; without an end it is a point in time. */
function passes({ datasets, time, endTime }: Annotation, filter: AnnotationFilter): boolean {
  const begins = timeOf(time);
  const ends = endTime === undefined ? begins : timeOf(endTime);
  return (
    (filter.datasets === undefined || filter.datasets.some(name => datasets.includes(name))) &&
    (filter.start === undefined || ends >= filter.start) &&
    (filter.end === undefined || begins < filter.end)
  );
}

/** Parses a time already validated in a file or request. */
function timeOf(text: string): bigint {
  return parseTime(text) ?? 0n;
}

function compare<T extends string | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
