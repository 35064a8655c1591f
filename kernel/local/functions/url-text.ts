type QueryMap = Readonly<Record<string, string | readonly string[]>>;

/** Returns the parts of a URL ([RFC 3986](https://www.rfc-editor.org/rfc/rfc3986)) as a JSON map; missing parts are empty. */
export function parseUrl(text: string): string {
  const [, scheme = '', authority = '', path = '', query = '', fragment = ''] =
    /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is.exec(text) ?? [];
  const user = authority.slice(0, Math.max(authority.lastIndexOf('@'), 0));
  const [, host = '', port = ''] =
    /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(authority.slice(authority.lastIndexOf('@') + 1)) ?? [];
  const [username = '', ...password] = user.split(':');
  return JSON.stringify({
    scheme,
    host,
    port,
    path,
    username: urlDecode(username),
    password: urlDecode(password.join(':')),
    query: queryMap(query),
    fragment: urlDecode(fragment),
  });
}

/** Returns the parameters of a URL query as a JSON map. */
export function parseUrlQuery(text: string): string {
  return JSON.stringify(queryMap(text.replace(/^\?/, '')));
}

/** Returns the URL for a JSON map of parts; null if it is not a map. */
export function formatUrl(json: string): string | null {
  const parts = JSON.parse(json) as unknown;
  if (typeof parts !== 'object' || parts === null || Array.isArray(parts)) return null;
  const map = parts as Readonly<Record<string, unknown>>;
  const part = (name: string) => partText(map[name]);
  const host =
    part('host') === ''
      ? ''
      : `//${userInfo(part('user') || part('username'), part('password'))}${part('host')}`;
  const scheme = part('scheme') === '' ? '' : `${part('scheme').replace(/:?\/*$/, '')}:`;
  const port = host === '' || part('port') === '' ? '' : `:${part('port')}`;
  const path = escapeUnsafe(part('path'), /[?#]|[^\x21-\x7e]+/g);
  const query = queryText(map.query);
  const fragment = escapeUnsafe(part('fragment'), /[^\x21-\x7e]+/g);
  const slash = host !== '' && path !== '' && !path.startsWith('/') ? '/' : '';
  return `${scheme}${host}${port}${slash}${path}${query && `?${query}`}${fragment && `#${fragment}`}`;
}

/** Returns text with its `%` sequences decoded; invalid sequences stay, and bytes that are not UTF-8 become U+FFFD. */
export function urlDecode(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, sequence =>
    Buffer.from(sequence.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}

/** Parses a query, with plus signs as spaces. */
function queryMap(query: string): QueryMap {
  const map = new Map<string, string[]>();
  for (const entry of query.split('&').filter(text => text !== '')) {
    const [name = '', ...value] = entry.split('=');
    const key = urlDecode(name.replaceAll('+', ' '));
    const text = urlDecode(value.join('=').replaceAll('+', ' '));
    const earlier = map.get(key);
    if (earlier === undefined) map.set(key, [text]);
    else earlier.push(text);
  }
  return Object.fromEntries([...map].map(([key, texts]) => [key, texts.length === 1 ? texts.join() : texts]));
}

function queryText(query: unknown): string {
  if (typeof query !== 'object' || query === null)
    return escapeUnsafe(partText(query).replace(/^\?/, ''), /#|[^\x21-\x7e]+/g);
  return Object.entries(query)
    .flatMap(([key, value]) => [value].flat().map(item => `${encodeText(key)}=${encodeText(partText(item))}`))
    .join('&');
}

function userInfo(user: string, password: string): string {
  if (user === '') return '';
  return `${encodeText(user)}${password === '' ? '' : `:${encodeText(password)}`}@`;
}

function partText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

function escapeUnsafe(text: string, unsafe: RegExp): string {
  return text.replace(unsafe, encodeText);
}

function encodeText(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString()).replace(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
