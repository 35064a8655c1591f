import { present } from '../../present.js';

/** The type of what the extension offers beside a list of templates; other front ends show the list alone. */
export const PATTERNS_MIME = 'application/vnd.axiom-apl.patterns+json';

/** A list of templates: which lines were read, and the templates in the order of the rows. */
export interface PatternsReference {
  /** The dataset, or the name of the kept result. */
  readonly source: string;
  readonly isResult: boolean;
  readonly field: string;
  /** Each as its text, with wildcards in it. */
  readonly templates: readonly string[];
  /** The types of the fields of a `parse` line that are not strings, of the template at `place`. */
  readonly typed?: { readonly place: number; readonly types: Readonly<Record<string, string>> };
  /** The query of the lines, and where and when it ran. */
  readonly query: string;
  readonly startTime: string;
  readonly endTime: string;
  readonly profile: string;
}

/** Reads what an output holds, which a stranger may have written; undefined for anything else. */
export function patternsReference(value: unknown): PatternsReference | undefined {
  const given = members(value);
  const text = (name: string) => {
    const member = given.get(name);
    return typeof member === 'string' ? member : undefined;
  };
  const [source, field, query] = [text('source'), text('field'), text('query')];
  const [startTime, endTime, profile] = [text('startTime'), text('endTime'), text('profile')];
  const templates = given.get('templates');
  if (source === undefined || field === undefined || query === undefined) return undefined;
  if (startTime === undefined || endTime === undefined || profile === undefined) return undefined;
  if (!Array.isArray(templates)) return undefined;
  return {
    ...{ source, field, query, startTime, endTime, profile },
    isResult: given.get('isResult') === true,
    templates: templates.map(String),
    ...present({ typed: typedOf(given.get('typed')) }),
  };
}

/** The type that a field of a `parse` line may have besides that of strings. */
export const NUMBER = 'long';

function typedOf(value: unknown): PatternsReference['typed'] {
  const given = members(value);
  const place = given.get('place');
  if (typeof place !== 'number') return undefined;
  const known = [...members(given.get('types'))].filter(
    ([name, type]) => /^p\d+$/.test(name) && type === NUMBER,
  );
  return { place, types: Object.fromEntries(known.map(([name]) => [name, NUMBER])) };
}

function members(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
}
