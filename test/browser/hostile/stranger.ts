import { type Reply, type Seen, type Service, startService, tabular } from '../../api/service.js';
import { PAYLOADS } from './payloads.js';

/** Number of datasets on the hostile service that have plain names. */
export const PLAIN_DATASETS = 400;

/** Payloads usable as field names: a name is never empty. */
export const FIELDS: readonly string[] = PAYLOADS.filter(text => text !== '');

/** Maximum length of a message that the kernel shows in full, in characters. */
const MESSAGE_LENGTH = 1_900;

/** Queries that the hostile service refuses, with the error message of each. */
export const REFUSED: ReadonlyMap<string, string> = new Map(
  messages().map((message, index) => [`['errors'] | limit ${index + 1}`, message]),
);

function messages(): readonly string[] {
  const found: string[] = [];
  for (const text of PAYLOADS) {
    const longer = `${found.at(-1) ?? ''} ${text}`;
    if (found.length > 0 && longer.length <= MESSAGE_LENGTH) found[found.length - 1] = longer;
    else found.push(text);
  }
  return found;
}

/** Starts a service whose every name is hostile and that the kernel takes for a remote one. */
export function startStranger(): Promise<Service> {
  return startService(hostile);
}

/** Returns the home directory's file that configures the hostile service as a profile. */
export function profileOf({ url }: Service): Readonly<Record<string, string>> {
  return { '.axiom.toml': `[deployments."<b>far</b>"]\nurl = "${url}"\ntoken = "xaat-secret"\n` };
}

function hostile({ path, method, body }: Seen): Reply {
  const datasets = [...PAYLOADS, ...Array.from({ length: PLAIN_DATASETS }, (_, index) => `plain ${index}`)];
  if (path === '/v2/datasets') return { body: datasets.map(name => ({ id: name, name, description: name })) };
  if (path === '/v2/user') return { body: { id: 'me', name: 'me', email: '' } };
  if (path === '/v2/apl-starred-queries') return { body: PAYLOADS.map(starred) };
  if (path.endsWith('/fields')) return { body: fieldsOf() };
  if (method !== 'POST') return { status: 404, body: { message: PAYLOADS[1] } };
  return answerTo((JSON.parse(body) as { readonly apl: string }).apl);
}

function starred(name: string, index: number): object {
  return {
    ...{ id: `s${index}`, kind: 'apl', name, who: 'me', metadata: {} },
    query: { apl: `['x'] // ${name.replace(/\s/g, ' ')}`, startTime: 'now-1h', endTime: 'now' },
  };
}

function fieldsOf(): readonly object[] {
  const names = ['_time', ...PAYLOADS, ...Array.from({ length: 2_000 }, (_, index) => `field_${index}`)];
  return names.map(described);
}

function described(name: string): object {
  return { name, type: 'string', unit: '', hidden: false, description: name };
}

/** Answers with payloads as values, field names or error messages; for any other query, as the top values of a field. */
function answerTo(apl: string): Reply {
  const refused = REFUSED.get(apl.trim());
  if (refused !== undefined) return { status: 400, body: { message: refused } };
  if (apl.startsWith("['values']")) return { body: values() };
  if (apl.startsWith("['names']")) return { body: names() };
  if (apl.includes('_time')) return { status: 400, body: { message: PAYLOADS[0] } };
  const top = PAYLOADS.slice(0, 20);
  return { body: tabular([textField('value'), { name: 'n', type: 'integer' }], [top, [...top.keys()]]) };
}

function textField(name: string) {
  return { name, type: 'string' } as const;
}

/** Returns one payload per row, a minute apart; `tags` holds it as a key and as a value. */
function values(): object {
  const at = (_: string, index: number) => new Date(Date.UTC(2026, 10, 20, 9, index)).toISOString();
  const fields = [
    { name: '_time', type: 'datetime' } as const,
    textField('value'),
    { name: 'n', type: 'integer' } as const,
    { name: 'tags', type: 'dynamic' } as const,
  ];
  const tags = PAYLOADS.map(text => ({ [text]: [text] }));
  return tabular(fields, [PAYLOADS.map(at), PAYLOADS, [...PAYLOADS.keys()], tags]);
}

/** Returns one row with a field for each payload, which is also its value and its description. */
function names(): object {
  const body = tabular(
    FIELDS.map(textField),
    FIELDS.map(text => [text]),
  );
  return { ...body, fieldsMetaMap: { names: FIELDS.map(described) } };
}
