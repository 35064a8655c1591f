import { type Reply, type Seen, type Service, startService, tabular } from '../api/service.js';
import { PAYLOADS } from './gallery.js';

/** More than a hundred texts that would run, or break a layout, if any part of the page took them for markup. */
export const HOSTILE: readonly string[] = PAYLOADS.flatMap(text =>
  ['', ' ', '"', "']", '`', '\n', '%drop ', '-->'].map(before => `${before}${text}`),
);

/** Datasets of the stranger's service whose names are plain. */
export const PLAIN_DATASETS = 400;

/** Starts a service on another machine, as far as the kernel can tell, whose every name is hostile. */
export function startStranger(): Promise<Service> {
  return startService(hostile);
}

/** The file of the home directory that names the stranger's service as a profile. */
export function profileOf({ url }: Service): Readonly<Record<string, string>> {
  return { '.axiom.toml': `[deployments."<b>far</b>"]\nurl = "${url}"\ntoken = "xaat-secret"\n` };
}

function hostile({ path, method, body }: Seen): Reply {
  const datasets = [...HOSTILE, ...Array.from({ length: PLAIN_DATASETS }, (_, index) => `plain ${index}`)];
  const star = (name: string, index: number) => ({
    ...{ id: `s${index}`, kind: 'apl', name, who: 'me', metadata: {} },
    query: { apl: `['x'] // ${name}`, startTime: 'now-1h', endTime: 'now' },
  });
  if (path === '/v2/datasets') return { body: datasets.map(name => ({ id: name, name, description: name })) };
  if (path === '/v2/user') return { body: { id: 'me', name: 'me', email: '' } };
  if (path === '/v2/apl-starred-queries') return { body: HOSTILE.slice(0, 90).map(star) };
  if (path.endsWith('/fields')) return { body: fieldsOf() };
  if (method !== 'POST') return { status: 404, body: { message: HOSTILE[1] } };
  if (body.includes('_time')) return { status: 400, body: { message: HOSTILE[0] } };
  const fields = [
    { name: 'value', type: 'string' },
    { name: 'n', type: 'integer' },
  ];
  return {
    body: tabular(fields, [HOSTILE.slice(0, 20), HOSTILE.slice(0, 20).map((_, index) => 20 - index)]),
  };
}

function fieldsOf(): readonly object[] {
  const names = ['_time', ...HOSTILE, ...Array.from({ length: 2_000 }, (_, index) => `field_${index}`)];
  return names.map(name => ({ name, type: 'string', unit: '', hidden: false, description: name }));
}
