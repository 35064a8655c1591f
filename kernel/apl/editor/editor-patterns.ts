import { present } from '../../present.js';

/** MIME type of the extension's controls beside a list of templates; other front ends show only the list. */
export const PATTERNS_MIME = 'application/vnd.axiom-apl.patterns+json';

/** A list of templates: the lines they were found in, and the templates in row order. */
export interface PatternsReference {
  /** The dataset, or the name of the stored result. */
  readonly source: string;
  readonly isResult: boolean;
  readonly field: string;
  /** Template strings, with wildcards. */
  readonly templates: readonly string[];
  /** Non-string types of the fields of a `parse` line, for the template at `place`. */
  readonly typed?: { readonly place: number; readonly types: Readonly<Record<string, string>> };
  /** The query for the lines, and where and when it ran. */
  readonly query: string;
  readonly startTime: string;
  readonly endTime: string;
  readonly profile: string;
}

/** Reads an output's data, which may come from an untrusted source; returns undefined for anything else. */
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

/** The only type for a field of a `parse` line other than string. */
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
