import {
  bits,
  hex16,
  incident,
  normal,
  pick,
  rhythm,
  type SampleField,
  sampleDataset,
  sometimesNull,
  uniform,
  weighted,
} from './random.js';

/** At most one request per slot of 250 ms. */
const slotNs = 250_000_000n;
const minute = 60e9;

const endpoints = weighted({
  '/api/v1/textdata/background/change': 3,
  '/api/v1/customer/services': 6,
  '/api/v1/messages/back': 4,
  '/api/v1/cart/items': 6,
  '/api/v1/checkout/submit': 5,
  '/api/v1/products/search': 8,
  '/api/v1/products/detail': 8,
  '/api/v1/users/profile': 5,
  '/api/v1/sell/act/effort': 2,
  '/api/v1/users/login': 4,
  '/api/v1/orders/history': 3,
  '/api/v1/payments/authorize': 3,
  '/static/app.js': 4,
  '/static/site.css': 3,
  '/images/logo.jpeg': 3,
  '/healthz': 4,
  '/': 6,
  '/robots.txt': 1,
  '/files/report%20final.csv': 1,
  '/static/../../etc/passwd': 1,
});
const places = weighted({
  'United States|Seattle': 6,
  'United States|New York': 6,
  'United States|Humboldt': 1,
  'United States|San Francisco': 4,
  'United States|Chicago': 3,
  'Germany|Berlin': 4,
  'Germany|Munich': 3,
  'Germany|Hamburg': 2,
  'France|Paris': 4,
  'France|Nevers': 1,
  'United Kingdom|London': 5,
  'United Kingdom|Leeds': 1,
  'Mexico|Mexico City': 3,
  'Mexico|Ojinaga': 1,
  'Japan|Tokyo': 5,
  'Japan|Okayama': 2,
  'Japan|Nagasaki': 1,
  'Brazil|São Paulo': 3,
  'Brazil|Camaquã': 1,
  'India|Mumbai': 4,
  'India|Bengaluru': 3,
  'Canada|Toronto': 3,
  'Spain|Madrid': 2,
  'Italy|Milan': 2,
  'Netherlands|Amsterdam': 2,
  'Sweden|Malmö': 1,
  'Poland|Łódź': 1,
  'Australia|Sydney': 2,
  'South Korea|서울': 1,
  'Singapore|Singapore': 2,
});
const agents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
  'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0',
  'Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko',
  'Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Trident/4.0)',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36',
  'curl/8.14.1',
  'Go-http-client/2.0',
  'python-requests/2.32.4',
  'okhttp/5.1.0',
  'Googlebot/2.1 (+http://www.google.com/bot.html)',
];
const oddities = [
  'request completed',
  `it's a "quoted" \\ back\\slash`,
  '<script>alert(1)</script>',
  '',
  '日本語のメッセージ 🚀',
  '=1+1',
];

const u = (salt: number): string => uniform('i', salt);
const datacenter = pick(weighted({ DCA: 6, GRU: 3, FRA: 5, NRT: 3, SYD: 1, LHR: 2 }), u(40));
const status = `CASE
  WHEN failed THEN ${pick(weighted({ 500: 6, 502: 1, 503: 2, 504: 1 }), u(11))}
  ELSE ${pick(weighted({ 200: 68, 201: 7, 204: 3, 301: 4, 304: 6, 400: 3, 401: 3, 403: 2, 404: 4 }), u(12))} END`;
const user = `(${bits('i', 14)} % 10000)`;

const fields: Readonly<Record<string, SampleField>> = {
  _sysTime: {
    type: 'datetime',
    sql: `make_timestamp_ns(ns + 100000000 + (${u(1)} * 1.9e9)::BIGINT)`,
    description: 'When the event was received.',
  },
  _time: { type: 'datetime', sql: 'make_timestamp_ns(ns)', description: 'When the request arrived.' },
  content_type: {
    type: 'string',
    sql: sometimesNull(
      'i',
      20,
      `CASE WHEN endpoint LIKE '%.css' THEN 'text/css' WHEN endpoint LIKE '%.js' THEN 'text/javascript' WHEN endpoint LIKE '%.jpeg' THEN 'image/jpeg'
      WHEN endpoint LIKE '%.csv' THEN 'text/csv' WHEN endpoint = '/' THEN 'text/html' WHEN endpoint = '/robots.txt' THEN 'text/plain-charset=utf-8' ELSE 'application/json' END`,
    ),
    description: 'Media type of the response.',
  },
  'geo.city': {
    type: 'string',
    sql: sometimesNull('i', 21, `split_part(${pick(places, u(22))}, '|', 2)`),
    description: 'City of the client.',
  },
  'geo.country': {
    type: 'string',
    sql: sometimesNull('i', 21, `split_part(${pick(places, u(22))}, '|', 1)`),
    description: 'Country of the client.',
  },
  id: {
    type: 'string',
    sql: `(lower(to_hex(${bits(user, 15)} >> 32)).lpad(8, '0') || '-' || left(${hex16(user, 16)}, 4) || '-4' || left(${hex16(user, 17)}, 3) || '-a' || left(${hex16(user, 18)}, 3) || '-' || left(${hex16(user, 19)}, 12))`,
    description: 'Identifies the user.',
  },
  is_tls: {
    type: 'bool',
    sql: sometimesNull('i', 23, `${u(24)} < 0.67`),
    description: 'Whether the connection was encrypted.',
  },
  message: {
    type: 'string',
    sql: `CASE WHEN ${u(25)} < 0.002 THEN ${pick(oddities, u(26))} WHEN hit AND failed THEN 'database connection pool exhausted' WHEN failed THEN ${pick(['upstream request failed', 'request timeout after 30s', 'connection refused by upstream', 'database connection pool exhausted'], u(27))}
      ELSE ${pick(['request completed', 'request completed', 'request completed', 'response served from cache', 'user session refreshed'], u(28))} END`,
    description: 'Log message of the server.',
  },
  method: {
    type: 'string',
    sql: `CASE WHEN ${u(29)} < 0.001 THEN 'get' ELSE ${pick(weighted({ GET: 50, POST: 25, PUT: 10, DELETE: 5, PATCH: 5, HEAD: 3, OPTIONS: 2 }), u(30))} END`,
    description: 'HTTP method.',
  },
  req_duration_ms: {
    type: 'real',
    sql: `round(exp(3.2 + 0.9 * ${normal('i', 31)}) * (1 + 0.35 * sin(2 * pi() * (ns % 86400000000000) / 8.64e13)) * CASE WHEN hit AND failed THEN 25 WHEN failed THEN 6 WHEN hit THEN 4 ELSE 1 END * CASE WHEN ${u(33)} < 0.01 THEN 12 ELSE 1 END + 0.05, 4)`,
    unit: 'ms',
    description: 'How long the request took.',
  },
  resp_body_size_bytes: {
    type: 'long',
    sql: sometimesNull(
      'i',
      34,
      `CASE WHEN failed THEN (200 + ${u(35)} * 300)::BIGINT ELSE least(10000, exp(6.5 + 1.1 * ${normal('i', 36)}))::BIGINT END`,
    ),
    unit: 'decbytes',
    description: 'Size of the response body.',
  },
  resp_header_size_bytes: {
    type: 'long',
    sql: sometimesNull('i', 38, `(10 + ${u(39)} * 190)::BIGINT`),
    unit: 'decbytes',
    description: 'Size of the response headers.',
  },
  server_datacenter: {
    type: 'string',
    sql: 'datacenter',
    description: 'Data center of the server.',
  },
  status: { type: 'string', sql: `(${status})`, description: 'HTTP status code, as text.' },
  uri: {
    type: 'string',
    sql: `(endpoint || CASE WHEN ${u(41)} < 0.05 THEN '?duration=' || (${u(42)} * 1000)::BIGINT WHEN ${u(41)} < 0.08 THEN '?user=' || ${user} || '&page=' || (1 + ${bits('i', 43)} % 9) ELSE '' END)`,
    description: 'Path and query of the request.',
  },
  user_agent: {
    type: 'string',
    sql: sometimesNull('i', 44, pick(agents, `pow(${u(45)}, 1.7)`)),
    description: 'What the client calls itself.',
  },
};

/** Returns the slots with a request, with values that several fields share. */
function rows(startNs: bigint, endNs: bigint): string {
  const major = incident('slot_ns', 900, 86_400e9, 0.55, 12 * minute, 35 * minute);
  const minor = incident('slot_ns', 910, 3_600e9, 0.65, 4 * minute, 11 * minute);
  const first = startNs / slotNs - (startNs < 0n ? 1n : 0n);
  const last = endNs / slotNs + 1n;
  const slots = `SELECT i, i * ${slotNs} AS slot_ns, i * ${slotNs} + (${uniform('i', 2)} * ${slotNs - 1n})::BIGINT AS ns FROM range(${first}, ${last}) t(i) WHERE ${uniform('i', 3)} < ${rhythm(`i * ${slotNs}`)}`;
  const placed = `SELECT *, ${major} AS outage, ${datacenter} AS datacenter, ${pick(endpoints, u(13))} AS endpoint FROM (${slots}) WHERE ns >= ${startNs} AND ns < ${endNs}`;
  // An outage affects one data center.
  const struck = `SELECT *, outage AND datacenter = 'GRU' AS hit, CASE WHEN ${minor} THEN 0.06 ELSE 0.012 END AS error_share FROM (${placed})`;
  return `SELECT *, ${u(10)} < CASE WHEN hit THEN 0.9 ELSE error_share END AS failed FROM (${struck})`;
}

/** Requests to a web shop: a daily wave, error bursts lasting minutes in most hours, and a data center outage about every other day. */
export const httpLogs = sampleDataset(
  'sample-http-logs',
  'Sample: HTTP requests to a web shop',
  fields,
  rows,
  slotNs,
);
